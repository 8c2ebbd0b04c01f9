/* Runs the trials that stand in the page. In the end answers go to the server that sent the page, if it takes them; else
   they stay in the browser until the person saves them as a file. */
"use strict";
(function () {
  const contents = JSON.parse(document.getElementById("timeline").textContent);
  const plugins = { "html-button-response": jsPsychHtmlButtonResponse, "survey-html-form": jsPsychSurveyHtmlForm };
  let count = 0;
  const jsPsych = initJsPsych({
    on_finish: ended,
    override_safe_mode: true,
    show_progress_bar: true,
    auto_update_progress_bar: false,
    message_progress_bar: (share) => (share ? `${Math.round(share * count)} of ${count}` : ""),
  });
  window.slantJsPsych = jsPsych;

  /* So many trials, from each test and condition as equally as can be; all of them if no number is given. */
  function drawn(trials, n) {
    const cells = new Map();
    for (const trial of jsPsych.randomization.shuffle(trials)) {
      const cell = JSON.stringify([trial.data.test, trial.data.condition]);
      cells.set(cell, [...(cells.get(cell) || []), trial]);
    }
    const lists = jsPsych.randomization.shuffle([...cells.values()]);
    const chosen = [];
    for (let place = 0; chosen.length < Math.min(n || trials.length, trials.length); place++)
      for (const list of lists)
        if (place < list.length && chosen.length < (n || trials.length)) chosen.push(list[place]);
    return jsPsych.randomization.shuffle(chosen);
  }

  let shown = null;

  function answerOf(trial, response) {
    if (trial.answers) return trial.answers[response];
    return trial.fields.length === 1 ? response[trial.fields[0]] : JSON.stringify(response);
  }

  const groups = () => [...document.querySelectorAll("#jspsych-html-button-response-btngroup, .options")];

  /* Options stand in a row if each on the page has room for its words, else in a column; it stays so while a person
     answers. */
  function laidOut() {
    groups().forEach((group) => group.classList.add("in-a-row"));
    const buttons = groups().flatMap((group) => [...group.children]);
    const overflows = buttons.some((button) => button.scrollWidth > button.clientWidth);
    const room = window.innerWidth >= 700 && buttons.every((button) => button.clientWidth >= 72);
    if (overflows || !room || buttons.some(breaksWords)) groups().forEach((group) => group.classList.remove("in-a-row"));
  }

  /* Whether a word of the button is wider than it. */
  function breaksWords(button) {
    const style = getComputedStyle(button);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const mark = button.querySelector("input") ? 24 : 0;
    const room = button.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - mark;
    return button.textContent.split(/\s+/).some((word) => pen.measureText(word).width > room);
  }

  /* What a person saw: the width of the page, and in which direction the options stood. */
  function noteLayout(row, direction) {
    row.page_width_px = window.innerWidth;
    row.options_direction = direction;
  }

  function directionNow() {
    const [group] = groups();
    return group ? (group.classList.contains("in-a-row") ? "row" : "column") : null;
  }

  function begun(place) {
    jsPsych.progressBar.progress = (place + 1) / count;
    laidOut();
    shown = directionNow();
  }

  function asked(trial, place) {
    const { type, answers, fields, data, ...parameters } = trial;
    return {
      ...parameters,
      type: plugins[type],
      data: { ...data, position: place },
      on_load: () => begun(place),
      save_trial_parameters: answers ? { stimulus: false } : {},
      on_finish: (row) => {
        noteLayout(row, shown);
        row.answer = answerOf(trial, row.response);
        row.response_time_ms = row.rt;
      },
    };
  }

  /* A game: what a round says goes by the choice before it, and who would succeed was drawn by the study's plan. */
  function played(rounds) {
    let last = 0;
    return rounds.map((round, place) => ({
      type: plugins["html-button-response"],
      stimulus: () => round.texts[Math.min(last, round.texts.length - 1)],
      choices: round.choices,
      data: round.data,
      save_trial_parameters: { stimulus: false },
      on_load: () => begun(place),
      on_finish: (row) => {
        noteLayout(row, shown);
        last = row.response;
        row.answer = round.answers[last];
        row.is_success = round.successes[last];
        row.response_time_ms = row.rt;
      },
    }));
  }

  async function ended() {
    const answers = jsPsych.data.get();
    const page = jsPsych.getDisplayElement();
    const line = (text, id) => Object.assign(document.createElement("p"), { textContent: text, id });
    const button = Object.assign(document.createElement("button"), { className: "jspsych-btn", id: "save" });
    button.textContent = "Save the answers as a file";
    button.onclick = () => answers.localSave("json", `${contents.study}.json`);
    if (!contents.is_served) return page.replaceChildren(line("That was all. Thank you."), button);
    page.replaceChildren(line("Your answers are being sent. Please leave this page open."));
    const reply = await fetch("answers", { method: "POST", body: answers.json() }).catch(() => ({ ok: false }));
    if (reply.ok) return page.replaceChildren(line("That was all, and your answers have arrived. Thank you.", "sent"));
    page.replaceChildren(line("Your answers could not be sent. Please save them, and send the file to us."), button);
  }

  const consent = {
    type: plugins["html-button-response"],
    stimulus: document.getElementById("consent").innerHTML,
    choices: ["I agree, begin"],
    data: { slant: "consent" },
  };
  /* What the study asks of each person stands in each of their rows. */
  const person = contents.person && {
    ...contents.person,
    type: plugins["survey-html-form"],
    data: { slant: "person" },
    on_load: laidOut,
    on_finish: (row) => jsPsych.data.addProperties(row.response),
  };
  jsPsych.data.addProperties({
    participant: jsPsych.randomization.randomID(12),
    study: contents.study,
    study_version: contents.study_version,
  });
  const trials = contents.games
    ? played(jsPsych.randomization.sampleWithoutReplacement(contents.games, 1)[0])
    : drawn(contents.trials, contents.n).map(asked);
  count = trials.length;
  jsPsych.run([consent, ...(person ? [person] : []), ...trials]);
})();
