/** Runs the app on a terminal. Sets the terminal modes and always restores them, also after a crash. */

import type { Configuration } from "@fairlead/core/trust";
import { render } from "ink";
import type { Context } from "../shell/verb.ts";
import { App } from "./app.tsx";
import { QuestionGuard } from "./input/question-guard.ts";
import { AppSession } from "./session/session.ts";
import type { Size } from "./state/app-state.ts";
import { drawingStream, lookAt, takeTerminal, terminalOf } from "./terminal.ts";
import { LookContext } from "./view/lines.tsx";

/**
 * Runs the app on the screen. Resolves when the user quits.
 * @throws the abort reason, if the command is aborted
 */
export async function runApp(context: Context, configuration: Configuration): Promise<void> {
  // Ctrl-C may have been pressed before the app was ready.
  context.io.signal.throwIfAborted();
  const { stdin, stdout, signal } = terminalOf(context.io);
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const size = (): Size => ({ columns: stdout.columns, rows: stdout.rows });
  const session = new AppSession(context, configuration, {
    size: size(),
    hasScreen: true,
    writeTerminal: (sequence) => void stdout.write(sequence),
    onQuit: () => leave?.(),
    onRedraw: redraw,
  });
  const { dispatch, subscribe } = session.store;
  const guard = new QuestionGuard(session.store, session.press, session.clock);
  const stopLooking = subscribe(guard.look);

  /** Draws the whole app again. Clears the screen but not the scrollback. */
  function redraw(): void {
    stdout.write("\u001b[H\u001b[2J");
    dispatch({ type: "resize", size: size() });
  }

  let committed: string | undefined;
  let rendered: string | undefined;
  const onCommit = (question: string | undefined): void => {
    committed = question;
  };
  /** Ink may write a frame long after rendering it. Only now can the user see the question. */
  const onWritten = (): void => guard.drawn(rendered);
  const quit = (): void => session.quit();
  const restore = takeTerminal({ stdin, stdout }, guard.press, quit);
  signal.addEventListener("abort", quit, { once: true });
  stdout.on("resize", redraw);
  const screen = render(
    <LookContext value={lookAt(context.io)}>
      <App session={session} onCommit={onCommit} />
    </LookContext>,
    {
      stdin,
      stdout: drawingStream(stdout, onWritten),
      exitOnCtrlC: false,
      onRender: () => {
        rendered = committed;
      },
    },
  );
  try {
    await Promise.race([left, screen.waitUntilExit()]);
  } finally {
    stdout.off("resize", redraw);
    signal.removeEventListener("abort", quit);
    screen.unmount();
    restore();
    stopLooking();
    guard.end();
    await session.close();
  }
  signal.throwIfAborted();
}
