/**
 * Starts the page: exchanges the code of the address, connects the event stream to the store, and shows the console, or
 * one question alone.
 */

import "./page.css";
import { render, type VNode } from "preact";
import { announceChanges, keepTitle } from "./announce.ts";
import { Api } from "./api.ts";
import { type App, AppContext } from "./app.ts";
import { Announcer } from "./components/announcer.ts";
import { keepFocus } from "./components/focus-keeper.ts";
import { Router } from "./router.ts";
import { dropSession, openSession, type PageSession } from "./session.ts";
import { NoSession } from "./shell/messages.tsx";
import { Shell } from "./shell/shell.tsx";
import { Store } from "./store.ts";
import { EventStream } from "./stream.ts";
import { applyTheme, readTheme } from "./theme.ts";
import { QuestionPage } from "./views/inbox/question-page.tsx";

applyTheme(readTheme());
const root = document.body.appendChild(document.createElement("div"));
root.id = "page";
// A fresh address in the same tab changes only the part after the `#`, so the browser does not load the page again.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#k=")) location.reload();
});
const opened = await openSession();
render(opened.state === "open" ? start(opened) : <NoSession opened={opened} />, root);

function start({ bearer, kind, channel }: PageSession): VNode {
  const store = new Store();
  const refuse = (): void => {
    dropSession();
    store.setConnection("refused");
  };
  const stream = new EventStream({
    bearer,
    channel,
    onEvent: (event) => store.apply(event),
    onState: (state) => (state === "refused" ? refuse() : store.setConnection(state)),
  });
  const announcer = new Announcer(store.flusher);
  const app: App = {
    store,
    announcer,
    api: new Api(bearer, refuse),
    router: new Router(store.flusher),
    reconnect: () => stream.tryNow(),
  };
  keepTitle(store);
  announceChanges(store, announcer);
  keepFocus(root);
  stream.start();
  return <AppContext.Provider value={app}>{kind === "question" ? <QuestionPage /> : <Shell />}</AppContext.Provider>;
}
