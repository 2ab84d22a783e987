/**
 * The script of the confirmation page. The page's address has a one-time code in its fragment, which browsers do not send
 * with the address. The script exchanges the code for a session, and the server then sends the question to this window
 * only. `sessionStorage` belongs to one window, so the session survives a reload.
 */

/** The script's source text. It inserts texts of clients and servers only as the server has escaped them. */
export const pageScript = `
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
