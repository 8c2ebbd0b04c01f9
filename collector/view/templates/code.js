"use strict";
// Keys 1 to 9 give a code (of several: mark it, and Enter keeps them), u takes the last one back.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=text], textarea")) return;
  const code = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (code) { event.preventDefault(); code.click(); }
  if (event.key === "u") { event.preventDefault(); document.getElementById("undo")?.click(); }
  if (event.key === "Enter" && document.getElementById("keep")) { event.preventDefault(); document.getElementById("keep").click(); }
});
