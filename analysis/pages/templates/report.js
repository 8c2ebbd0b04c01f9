"use strict";
// Tables sort by a click or by Enter on a head: up, down, and back to the order in which they came.
const collator = new Intl.Collator("en", { numeric: true });

function shown(row, column) {
  const isNumber = (node) => node.nodeName !== "SMALL" && node.className !== "mark"; // not the print below it
  return [...row.cells[column].childNodes].filter(isNumber).map((node) => node.textContent).join("").trim();
}

function compared(rows, column, sign) {
  const texts = new Map(rows.map((row) => [row, shown(row, column)]));
  const isEmpty = (text) => text === "" || text === "no data";
  const number = (text) => Number(text.replaceAll(",", ""));
  const filled = [...texts.values()].filter((text) => !isEmpty(text));
  const isNumeric = filled.every((text) => !Number.isNaN(number(text)));
  return [...rows].sort((one, other) => {
    const [a, b] = [texts.get(one), texts.get(other)];
    if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b); // what is not there comes last, either way
    return sign * (isNumeric ? number(a) - number(b) : collator.compare(a, b));
  });
}

function sort(table, head, original) {
  const next = { none: "ascending", ascending: "descending", descending: "none" };
  const order = next[head.getAttribute("aria-sort") || "none"];
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = order === "none" ? original : compared(original, head.cellIndex, sign);
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table")) {
  const original = [...table.tBodies[0].rows];
  if (original.length < 2) continue;
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, head, original));
    head.append(button);
    head.setAttribute("aria-sort", "none");
  }
}

// Paper can't unfold anything: all of it is printed, and folded again afterwards.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const part of unfolded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of unfolded) part.open = false;
});
