"""The same trials for people: a jsPsych timeline, and a page that runs it."""
