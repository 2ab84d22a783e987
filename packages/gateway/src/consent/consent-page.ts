/**
 * The web page on which a person answers a confirmation. It is empty at first: its script gets the question, and shows
 * it. All texts of clients and servers are escaped.
 */

import { hash } from "node:crypto";
import { choiceText, requestName, requestVerbs } from "@fairlead/core/policy";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ConsentQuestion } from "./confirmed-request.ts";

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
dt { font-weight: 600; margin-top: .75rem; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; padding: .75rem; border: 1px solid; border-radius: .25rem; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 60vh; overflow: auto; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
caption { text-align: left; font-weight: 600; }
th, td { border: 1px solid; padding: .25rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button { font: inherit; padding: .6rem 1rem; border: 2px solid; border-radius: .25rem; cursor: pointer; }
button:focus-visible { outline: 3px solid; outline-offset: 2px; }
h1:focus { outline: none; }
`;

/**
 * The page's address has a one-time code in its fragment, which browsers do not send with the address. The script
 * exchanges the code for a session, and the server then sends the question to this window only. `sessionStorage` belongs
 * to one window, so the session survives a reload. The script inserts texts of clients and servers only as the server has
 * escaped them.
 */
const script = `
"use strict";
const path = location.pathname;
const code = location.hash.slice(1);
const main = document.querySelector("main");
main.querySelector("p").textContent = "Loading the question…";

function stored() {
  try { return sessionStorage.getItem(path); } catch { return null; }
}

function store(session) {
  try { sessionStorage.setItem(path, session); } catch { /* A reload then shows no question. */ }
}

function send(step, secret, body) {
  return fetch(path + "/" + step, { method: "POST", headers: { authorization: "Bearer " + secret }, body, cache: "no-store" });
}

function show(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  document.title = page.title;
  main.replaceChildren(...page.querySelector("main").childNodes);
  main.querySelector("h1").focus();
}

function showFailure() {
  const title = document.createElement("h1");
  title.tabIndex = -1;
  title.textContent = "Fairlead does not answer";
  const text = document.createElement("p");
  text.textContent = "Reload this page to try again. To answer in a terminal, run: fairlead approvals";
  main.replaceChildren(title, text);
  title.focus();
}

async function openQuestion() {
  let session = stored();
  if (session === null) {
    const visit = await send("visit", code);
    // Not earlier: without this answer, a reload needs the code again.
    history.replaceState(null, "", path);
    if (!visit.ok) return show(await visit.text());
    session = await visit.text();
    store(session);
  }
  show(await (await send("question", session)).text());
  main.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const button of main.querySelectorAll("button")) button.disabled = true;
    send("answer", session, event.submitter.value).then((response) => response.text()).then(show).catch(showFailure);
  });
}

openQuestion().catch(showFailure);
`;

const digestOf = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`;

/**
 * The HTTP headers of every response. The browser then runs only the page's own script, connects only to this server,
 * shows the page in no frame and does not cache it.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; script-src ${digestOf(script)}; style-src ${digestOf(style)}; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** Returns the page that a browser loads first. It contains nothing of the question. */
export function emptyPage(): string {
  return page(
    "Confirmation",
    `<p role="status"></p>
<noscript><p>This page needs JavaScript, and your browser does not run it here. To see the question and to answer it in a terminal, run: fairlead approvals</p></noscript>`,
    `<script>${script}</script>`,
  );
}

/** Returns the HTML page of a confirmation, with a button for each offered answer. */
export function questionPage(question: ConsentQuestion): string {
  const { client, server, kind, name, args, reason, change, digest, answers, folder, hints } = question;
  const row = (term: string, text: string | undefined): string =>
    text ? `<dt>${term}</dt><dd>${line(text)}</dd>` : "";
  const buttons = answers.map(
    (answer) => `<button name="decision" value="${answer}">${capitalised(choiceText(answer, question))}</button>`,
  );
  return page(
    `${capitalised(requestVerbs[kind])} ${requestName(question)}?`,
    `<p>The program <strong>${line(client)}</strong> wants to ${requestVerbs[kind]} this. It does not see your answer on this page.</p>
<dl>
<dt>Server</dt><dd>${line(server)}</dd>
${row("Folder", folder)}
<dt>Name</dt><dd>${line(name)}</dd>
${row("Hints", hints)}
<dt id="arguments">Arguments, exactly as they will be sent (sha256 ${digest})</dt>
<dd><pre tabindex="0" role="region" aria-labelledby="arguments">${lines(JSON.stringify(args, undefined, 2))}</pre></dd>
${row("Why you are asked", reason)}
</dl>
${change === undefined ? "" : changeTable(change)}
<form aria-label="Your answer">
${buttons.join("\n")}
</form>`,
  );
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function changeTable(change: NonNullable<ConsentQuestion["change"]>): string {
  const rows = change.map(
    ({ member, before, after }) =>
      `<tr><th scope="row">${line(member)}</th><td>${line(before ?? "(absent)")}</td><td>${line(after ?? "(removed)")}</td></tr>`,
  );
  return `<table><caption>The definition has changed since you accepted it</caption>
<thead><tr><th scope="col">Member</th><th scope="col">Before</th><th scope="col">Now</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table>`;
}

/** Returns an HTML page with one sentence. Escapes both texts. */
export function messagePage(title: string, text: string): string {
  return page(title, `<p role="status">${line(text)}</p>`);
}

/** The title can take the focus, so that a screen reader reads it when the script shows another page. */
function page(title: string, body: string, source = ""): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${line(title)} – Fairlead</title><style>${style}</style></head>
<body><main>
<h1 tabindex="-1">${line(title)}</h1>
${body}
</main>${source}</body>
</html>
`;
}

/** Makes invisible and misleading characters visible, then escapes the text for HTML. */
function line(text: string): string {
  return escaped(toVisibleLine(text));
}

function lines(text: string): string {
  return text.split("\n").map(line).join("\n");
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
