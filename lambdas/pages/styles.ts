import { createHash } from "node:crypto";

/**
 * The one style sheet of all pages. One column, so that a phone needs no layout of its own; every colour of text has a contrast of at least
 * 4.5 against what is behind it, and none of them is the only sign of anything.
 */
export const styles = `
:root { color-scheme: light; --ink: #1b2330; --soft: #4a5567; --line: #d4dae3; --paper: #ffffff; --ground: #f3f5f8;
  --blue: #0b57b7; --green: #14653a; --green-ground: #e7f5ec; --red: #9d1c26; --red-ground: #fcecec; --amber: #7a4700; --amber-ground: #fdf3df; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
a { color: var(--blue); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem 1rem; z-index: 1; }
header, main, footer { max-width: 46rem; margin: 0 auto; padding: 0 1rem; }
header { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; padding-top: 1rem; padding-bottom: 1rem; }
header p { margin: 0; font-weight: 700; letter-spacing: .01em; }
header nav a { display: inline-block; padding: .35rem 0; }
footer { padding-top: 1.5rem; padding-bottom: 2rem; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.0625rem; margin: 0 0 .75rem; }
p { margin: 0 0 .75rem; }
section, .card { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 1.1rem 1.25rem; margin: 0 0 1rem; }
section > :last-child, .card > :last-child { margin-bottom: 0; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: .9rem 0 0; font-size: .9375rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: .05rem .55rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .8125rem; font-weight: 600; white-space: nowrap; }
.good { color: var(--green); background: var(--green-ground); }
.bad { color: var(--red); background: var(--red-ground); }
.warn { color: var(--amber); background: var(--amber-ground); }
.plain { color: var(--soft); background: var(--paper); }
.note { border: 1px solid currentColor; border-left-width: 5px; border-radius: 6px; padding: .7rem 1rem; margin: 0 0 1rem; }
.note > :last-child { margin-bottom: 0; }
.message { border-left: 5px solid var(--amber); }
.sub { color: var(--soft); font-size: .875rem; font-weight: 400; }
th .sub, td .sub { display: block; }
.fields { margin: 0; }
.fields > div { padding: .6rem 0; border-top: 1px solid var(--line); }
.fields > div:first-child { border-top: 0; padding-top: 0; }
.fields dt { color: var(--soft); font-size: .875rem; }
.fields dd { margin: 0; overflow-wrap: anywhere; }
.money { font-size: 1.25rem; font-weight: 650; font-variant-numeric: tabular-nums; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.quote { border-left: 3px solid var(--line); padding-left: .9rem; }
.code, .diff { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .75rem; margin: .35rem 0; white-space: pre-wrap; overflow-wrap: anywhere; direction: ltr; unicode-bidi: isolate; text-align: left; }
.diff { padding: .35rem 0; }
.diff > * { display: block; padding: 0 .75rem; text-decoration: none; unicode-bidi: isolate; }
.diff ins { background: var(--green-ground); color: var(--green); }
.diff del { background: var(--red-ground); color: var(--red); }
.mark { user-select: none; font-weight: 700; }
.list { margin: .25rem 0 0; padding-left: 1.25rem; }
.list li { overflow-wrap: anywhere; }
.pairs { margin: .35rem 0 0; }
.pairs dt { font-size: .875rem; color: var(--soft); }
.pairs dd { margin: 0 0 .4rem; }
details { margin: .35rem 0; }
summary { cursor: pointer; color: var(--blue); padding: .2rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .55rem .75rem .55rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.inbox thead th:first-child { width: 46%; }
thead th { border-top: 0; color: var(--soft); font-size: .8125rem; font-weight: 600; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
.consequences { margin: 0 0 1rem; }
.consequences dt { font-weight: 600; }
.consequences dd { margin: 0 0 .6rem; }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
.hint { color: var(--soft); font-size: .875rem; margin: 0 0 .35rem; font-weight: 400; }
.note a { color: inherit; font-weight: 600; }
input[type=text], textarea { width: 100%; font: inherit; color: inherit; background: var(--paper); border: 1px solid #6b7686; border-radius: 6px; padding: .55rem .7rem; margin: 0 0 1rem; }
textarea { min-height: 6rem; resize: vertical; }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
button { font: inherit; font-weight: 650; min-height: 2.9rem; min-width: 9rem; flex: 1 1 9rem; border-radius: 6px; border: 2px solid; padding: .55rem 1.1rem; cursor: pointer; }
button.approve { background: var(--green); border-color: var(--green); color: #ffffff; }
button.reject { background: var(--paper); border-color: var(--red); color: var(--red); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 34rem) {
  section, .card { padding: .9rem 1rem; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacks, .stacks caption, .stacks tbody, .stacks tr, .stacks td, .stacks th { display: block; }
  .stacks tr { border-top: 1px solid var(--line); padding: .7rem 0; }
  .stacks tr:first-child { border-top: 0; padding-top: 0; }
  .stacks th, .stacks td { border: 0; padding: .1rem 0; }
  .stacks td .sub { display: inline; }
  .stacks td::before { content: attr(data-label) ": "; color: var(--soft); }
}
@media print { button, .skip, nav { display: none; } body { background: none; } }
`;

/** What a policy names it by: any other style is not applied. */
export const stylesHash = `sha256-${createHash("sha256").update(styles).digest("base64")}`;
