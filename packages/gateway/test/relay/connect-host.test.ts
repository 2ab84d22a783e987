import { createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { connectHost } from "../../src/relay/connect-host.ts";

const hello = { version: "1", token: "t", client: "c", cwd: "/", env: {}, flags: {} } as never;

test("a host that ends during the first exchange counts as absent", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "socket");
  // Closed with the greeting unread, as by a killed host: the relay's socket is reset.
  const server = createServer({ pauseOnConnect: true }, (socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await connectHost(path, hello)).toEqual({ kind: "absent" });
  await new Promise((resolve) => server.close(resolve));
  expect(await connectHost(path, hello)).toEqual({ kind: "absent" });
});
