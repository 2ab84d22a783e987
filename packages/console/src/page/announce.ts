/** Tells the person what needs them while they look elsewhere: in the title of the tab, in a notification, and by voice. */

import type { Question } from "../protocol/rows.ts";
import type { Announcer } from "./components/announcer.ts";
import { groupOf, isNotFine, serverState } from "./components/state-mark.tsx";
import { visibleText } from "./components/text.tsx";
import type { Store } from "./store.ts";

/** Keeps the number of open questions in the title: `(1) Servers – fairlead`. Also while the tab is hidden. */
export function keepTitle(store: Store): void {
  const update = (): void => {
    const count = store.questions.ids.value.length;
    const title = store.viewTitle.value;
    document.title = `${count > 0 ? `(${count}) ` : ""}${title === "" ? "" : `${visibleText(title)} – `}fairlead`;
  };
  store.viewTitle.subscribe(update);
  for (const type of ["snapshot", "question", "answered"] as const) store.onEvent(type, update);
}

/** Says aloud which questions arrive and which servers fail. What the page shows at first is not news. */
export function announceChanges(store: Store, announcer: Announcer): void {
  const groups = new Map<string, string>();
  store.onEvent("snapshot", ({ snapshot: { servers } }) => {
    for (const row of servers) groups.set(row.name, groupOf(row));
  });
  store.onEvent("server", ({ server }) => {
    const group = groupOf(server);
    if (groups.get(server.name) !== group && isNotFine(server))
      announcer.say(`${visibleText(server.name)}: ${serverState(server).word}`);
    groups.set(server.name, group);
  });
  store.onEvent("question", ({ question }) => {
    announcer.say(`A question waits: ${questionTitle(question)}`);
    notify(question);
  });
}

/** A question in one line. */
export function questionTitle(question: Question): string {
  const server = visibleText(question.server, false, true);
  switch (question.kind) {
    case "request": {
      const verb = `${question.verb.charAt(0).toUpperCase()}${question.verb.slice(1)}`;
      if (question.request === "sampling") return `${verb} a sampling request of ${server}?`;
      const name = visibleText(question.name, false, true);
      if (question.request === "host") return `${server} wants ${name}`;
      return question.request === "tool"
        ? `${verb} ${server}.${name}?`
        : `${verb} ${question.request} ${name} of ${server}?`;
    }
    case "form":
      return `${server} asks for values`;
    case "address":
      return `${server} asks you to open an address`;
    case "sign_in":
      return `Sign in to ${server}`;
  }
}

/** Shows a notification of the system, if the person has allowed them and does not look at the page. */
function notify(question: Question): void {
  if (!document.hidden || !("Notification" in globalThis) || Notification.permission !== "granted") return;
  const note = new Notification(questionTitle(question), { tag: question.id });
  note.onclick = () => {
    window.focus();
    location.hash = `#/inbox/${encodeURIComponent(question.id)}`;
    note.close();
  };
}
