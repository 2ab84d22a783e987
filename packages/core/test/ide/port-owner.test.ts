import { ideCompanion } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { isOwnPort, listenersIn } from "../../src/ide/companion.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 100 0 0 10 0
   2: 0100007F:1F92 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1002        0 3 1 0 100 0 0 10 0
   3: 0200A8C0:1F93 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 4 1 0 100 0 0 10 0
   4: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 5 1 0 100 0 0 10 0
`;

test("the user of a listener is found; connections and other addresses do not count", () => {
  expect([8080, 8081, 8082, 8083, 80, 8].map((port) => listenersIn(table, port))).toEqual([
    [1000],
    [1001],
    [],
    [],
    [0],
    [],
  ]);
});

test("a port of this process is this user's, a port on which nothing listens is not; other systems do not tell", async () => {
  await using companion = await ideCompanion();
  expect(await isOwnPort(companion.port, "linux")).toBe(true);
  expect([await isOwnPort(1, "linux"), await isOwnPort(1, "darwin")]).toEqual([false, true]);
});
