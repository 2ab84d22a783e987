import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { watchParent } from "../../src/gateway/run-relay.ts";

it("notices after the end of stdin that the program which started this process has ended", async () => {
  const stdin = new PassThrough();
  let parent = 4711;
  const watch = watchParent(stdin, () => parent);
  parent = 1;
  expect(watch.signal.aborted).toBe(false);
  const aborted = once(watch.signal, "abort");
  stdin.resume().end();
  await aborted;
  watch.stop();
});
