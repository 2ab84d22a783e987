import { once } from "node:events";
import { join } from "node:path";
import { browser, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createMcpClient, type Environment } from "../../src/index.ts";
import { both } from "../auth/both-servers.ts";
import { person } from "../auth/person.ts";

function environmentIn(folder: string): Environment {
  const env = { FAIRLEAD_SECRET_STORE: "file", PATH: "/bin:/usr/bin" };
  return { env, home: join(folder, "home"), cwd: folder, platform: process.platform };
}

test("a server that wants a sign-in says what to type, uses the stored one, and signs in a person who can be asked", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const environment = environmentIn(folder.path);
  const entry = { httpUrl: servers.guarded.url };
  const unknown = createMcpClient("docs", entry, { environment });
  await expect(unknown.connect()).rejects.toMatchObject({ code: "auth_required", next: "fairlead mcp auth docs" });
  expect(unknown.getStatus()).toBe("needs_auth");

  const signing = createMcpClient("docs", entry, { environment, signIn: person().ui });
  await signing.connect();
  await signing.disconnect();

  const known = createMcpClient("docs", entry, { environment });
  await known.connect();
  expect((await known.discover()).catalog.tools.map(({ name }) => name)).toEqual(["echo"]);
  await known.disconnect();
});

test("with oauth.enabled the browser is opened, and a warning has the address for a machine without one", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const entry = { httpUrl: servers.guarded.url, oauth: { enabled: true } };
  const client = createMcpClient("docs", entry, { environment: environmentIn(folder.path) });
  const warned = once(process, "warning") as Promise<[Error]>;
  const connecting = client.connect();
  const [{ name, message }] = await warned;
  expect([name, message]).toEqual(["McpSignInWarning", expect.stringMatching(/^sign in to "docs": http/)]);
  // The person follows the address in the warning.
  await browser(message.replace(/^.*: (?=http)/, ""));
  await connecting;
  expect(client.getStatus()).toBe("connected");
  await client.disconnect();
});
