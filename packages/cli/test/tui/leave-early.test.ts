import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { configurationOf } from "../../src/shell/configuration.ts";
import { runPlain } from "../../src/tui/plain.ts";
import { runApp } from "../../src/tui/run-app.tsx";
import { machine } from "../support/machine.ts";
import { contextOf } from "../support/tui/session-scene.ts";

test.each([
  ["the app", runApp],
  ["the app line by line", runPlain],
])("a signal that came before %s was there ends it at once, and nothing is shown", async (_, run) => {
  await using here = await machine();
  const quiet = contextOf(here, {});
  const configuration = await configurationOf(quiet);
  const [stdout, left] = [new PassThrough(), new Error("a signal")];
  // Of whom nothing ever comes, and who never goes.
  const stdin = new Readable({ read: () => {} });
  const context = { ...quiet, io: { ...quiet.io, stdin, stdout, signal: AbortSignal.abort(left) } };
  await expect(run(context, configuration)).rejects.toBe(left);
  expect(stdout.read()).toBe(null);
});
