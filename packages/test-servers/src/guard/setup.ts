/**
 * Fails the test that leaves something behind: a rejection nobody handles, a process, a thread, a timer, a socket,
 * a server, a file watcher, a temporary folder.
 * What a whole file shares (`beforeAll`) is judged at the end of the file.
 */

import { afterAll, aroundEach } from "vitest";
import { beginFile, endFile, runTest } from "./guard.ts";

const file = beginFile();
aroundEach((run, { task }) => runTest(task.name, run));
// Hooks after tests run in reverse: the one that was registered first is the last.
afterAll(() => endFile(file));
