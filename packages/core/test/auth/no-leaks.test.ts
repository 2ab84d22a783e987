/** Nothing of a sign-in is seen anywhere but where it belongs: in the store, and with the servers it is for. */

import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { inspect } from "node:util";
import { status, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { both } from "./both-servers.ts";
import { person } from "./person.ts";
import { hostFor } from "./signed-in-host.ts";

async function filesIn(folder: TemporaryFolder): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return new Map(files.map((file, index) => [relative(folder.path, file), texts[index] ?? ""]));
}

test("secrets are in no file, no event, no state and no error, whatever happens", async () => {
  const clientAuthentication = "client_secret_basic" as const;
  const metadata = { token_endpoint_auth_methods_supported: [clientAuthentication] };
  await using servers = await both(
    { clientAuthentication, metadata, scopes: ["read", "write", "openid"] },
    { scopes: ["read", "openid"], toolScopes: { echo: ["write"] } },
  );
  await using folder = await temporaryFolder();
  const seen: unknown[] = [];
  const someone = person();
  {
    const observe = (_server: string, step: unknown): void => void seen.push(step);
    const options = { signIn: someone.ui, debug: true, observe };
    await using host = await hostFor(folder, servers.guarded.url, {}, options);
    for (const type of ["state", "catalog", "log", "discovery"] as const)
      host.on(type, (event: unknown) => void seen.push(event));
    await host.start({ servers: ["docs"] });
    seen.push(await host.call("docs", "echo", { text: "hi" }));
    // A server that repeats what it was sent, in the middle of its refusal.
    servers.guarded.interrupt("mcp", (request, response) => {
      const words = `I do not like ${request.headers.authorization?.slice("Bearer ".length)}`;
      response.writeHead(403, { "content-type": "text/plain" }).end(words);
    });
    seen.push(await host.call("docs", "echo", { text: "hi" }).catch((error: unknown) => error));
    servers.authorization.interrupt("token", status(400), 9);
    servers.authorization.revokeGrants();
    seen.push(await host.call("docs", "echo", { text: "hi" }).catch((error: unknown) => error));
    seen.push(host.states());
  }
  // The address that the browser opens carries the state, as it must.
  seen.push(someone.shown.filter(({ kind }) => kind !== "address"));
  const shown = inspect(seen, { depth: 20, showHidden: true, maxStringLength: null, maxArrayLength: null });
  const files = await filesIn(folder);
  expect([...files.keys()].some((name) => name.includes("logs"))).toBe(true);
  expect(servers.authorization.secrets.size).toBeGreaterThan(5);
  for (const secret of servers.authorization.secrets) {
    expect(shown.includes(secret) ? secret : undefined).toBeUndefined();
    for (const [name, text] of files)
      expect(text.includes(secret) ? `${secret} in ${name}` : undefined).toBeUndefined();
  }
});
