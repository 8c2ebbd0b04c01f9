"""Ask people the same trials: a jsPsych timeline, and a page that runs it."""
