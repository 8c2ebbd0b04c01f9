"""How models write one value around which everything else is dress: what a chat ends with, Markdown, quotes of several
languages, a lead, a list, JSON, signs of templates. {x} is the value."""

WRAPPINGS = (
    '{x}', '**{x}**', '__{x}__', '*{x}*', '`{x}`', '"{x}"', "'{x}'", '“{x}”', '‘{x}’', '«{x}»', '« {x} »', '„{x}“',
    '»{x}«', '「{x}」', '『{x}』', '({x})', '[{x}]', '<{x}>', '{x}.', '{x}!', '{x}\n', '{x}。', '{x}．',
    '\n\n{x}', '- {x}',
    '* {x}', '• {x}', '1. {x}', '1) {x}', '> {x}', '# {x}', '### {x}\n', 'Answer: {x}', '**Answer:** {x}',
    '**Answer: {x}**', 'Answer - {x}', 'Final answer: {x}', '**Final Answer**: {x}', '### Answer\n{x}',
    'The answer is {x}.', 'The answer is: **{x}**', 'My answer is "{x}".',
    '{x}\n\nExplanation: it follows from the rule above.', '{x} \n', '<think>I should think about it.</think>\n\n{x}',
    '<thinking>hm</thinking>{x}', '<answer>{x}</answer>', '<answer>\n{x}\n</answer>', '<final>{x}</final>',
    '\\boxed{{{x}}}', '$\\boxed{{\\text{{{x}}}}}$', '{{"answer": "{x}"}}', '```json\n{{"answer": "{x}"}}\n```',
    '```\n{x}\n```', '~~~\n{x}\n~~~', 'I choose {x}.', 'I would choose {x}.', "I'd say {x}.", "I'll go with {x}.",
    "I'd go with **{x}**.", 'Sure! {x}', 'Sure, here is my answer:\n\n{x}', 'Certainly! The answer is {x}.',
    'Okay, {x}.', 'Antwort: {x}', 'Réponse : {x}', 'Respuesta: {x}', '答案：{x}', '回答：{x}', 'Ответ: {x}',
    '{x}<|im_end|>', '{x}</s>', '{x}<|eot_id|>', '{x}<end_of_turn>', 'assistant\n\n{x}', 'Assistant: {x}', '✅ {x}',
    '👉 **{x}**', '{x} 🙂', '\u200b{x}\u200b', '\ufeff{x}', '{x}\xa0', '<p>{x}</p>', '<b>{x}</b>', '**{x}**.',
    '**"{x}"**', '*"{x}"*', '`"{x}"`', '[[{x}]]', '{{{x}}}', '|{x}|', 'Response: {x}', 'Label: {x}', 'Choice: {x}',
    'Option: {x}', 'Decision: {x}', 'Output: {x}', 'Selected option: {x}', '→ {x}', '=> {x}', '{x};', '{x},',
    '{x} (final answer)', '{x} - that is my answer.', '**{x}** – because the rule says so.',
    '{x}\n---\nLet me know if you need anything else!', '{x}\n\nIs there anything else I can help with?',
)  # fmt: skip
