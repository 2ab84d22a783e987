/**
 * Fails a test that leaves something behind: an unhandled rejection, a process, a thread, a timer, a socket, a server,
 * a file watcher, a temporary folder. What a whole file shares (`beforeAll`) is checked at the end of the file.
 */

import { afterAll, aroundEach } from "vitest";
import { beginFile, endFile, runTest } from "./guard.ts";

const file = beginFile();
aroundEach((run, { task }) => runTest(task.name, run));
// Hooks after tests run in reverse order, so the hook that is registered first runs last.
afterAll(() => endFile(file));
