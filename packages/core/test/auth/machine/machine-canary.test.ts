/** No key, assertion, secret or token of a machine is seen anywhere but where it belongs. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import {
  authorizationServer,
  type Fault,
  newIdToken,
  processesWith,
  signersKey,
  stdioServer,
  type TemporaryFolder,
} from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Host } from "../../../src/host.ts";
import { machineScene, newKey } from "./machine-scene.ts";

const all = (value: unknown): string =>
  inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null });

/** As it is, and as Basic authentication would carry it. */
function secretsIn(text: string, secrets: readonly string[]): readonly string[] {
  const forms = (secret: string): readonly string[] => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").slice(0, -4),
  ];
  return secrets.filter((secret) => forms(secret).some((form) => text.includes(form)));
}

async function filesIn(folder: TemporaryFolder): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "latin1")] as const)));
}

/** What an unkind server might say. */
function quoting(text: string): string {
  const description = `I do not like ${text} ${decodeURIComponent(text)}`;
  return JSON.stringify({ error: "invalid_client", error_description: description });
}

const quoteRequest: Fault = ({ body, headers }, response) =>
  void response.writeHead(400).end(quoting(`${body.replaceAll("+", " ")} ${headers.authorization ?? ""}`));

test("in no log, error, event, catalog, process or file", async () => {
  const key = newKey();
  await using idp = await authorizationServer({ clients: [{ clientId: "app", clientSecret: "canary-of-the-idp" }] });
  await using scene = await machineScene({
    clients: [{ clientId: "app-there", publicKey: key.publicKey }],
    trustedIssuers: [{ issuer: idp.issuer, publicKey: signersKey }],
    dpop: "nonce",
  });
  const { authorization, guarded, folder } = scene;
  const idToken = newIdToken({ iss: idp.issuer, aud: "app", sub: "someone" });
  await folder.write("own/key.pem", key.pem);
  await folder.write("own/id-token", idToken);
  const machineAuth = {
    kind: "enterprise",
    clientId: "app-there",
    privateKeyFile: `${folder.path}/own/key.pem`,
    assertionFile: `${folder.path}/own/id-token`,
    identityProvider: { issuer: idp.issuer, clientId: "app", clientSecret: "${IDP_SECRET}" },
  };
  const said: unknown[] = [];
  const remember = (value: unknown): void => void said.push(value);
  const begin = async (): Promise<Host> => {
    const beside = { beside: { ...stdioServer("well-behaved"), env: { CANARY_RUN: folder.path } } };
    const env = { IDP_SECRET: "canary-of-the-idp" };
    const options = { debug: true, observe: (...step: unknown[]) => remember(step) };
    const host = await scene.host(machineAuth, { beside, env }, options);
    for (const type of ["state", "discovery", "stderr", "log", "catalog", "refresh_failed"] as const)
      host.on(type, remember);
    return host;
  };
  let processes: readonly string[] = [];
  for (const server of [idp, authorization]) {
    server.interrupt("token", quoteRequest);
    await using host = await begin();
    await host.start();
    remember(host.states());
    expect(all(host.states())).toContain("invalid_client");
  }
  {
    await using host = await begin();
    await host.start();
    remember(await host.call("docs", "echo", { text: "hi" }));
    authorization.expireTokens();
    remember(await host.call("docs", "echo", { text: "with another token" }));
    processes = await Promise.all(
      processesWith(`CANARY_RUN=${folder.path}`).map(async (line) => {
        const [pid = ""] = line.split(" ");
        return `${line}\n${await readFile(`/proc/${pid}/environ`, "latin1")}`;
      }),
    );
    guarded.interrupt("mcp", ({ headers }, response) =>
      response.writeHead(500).end(quoting(`${headers.authorization} ${String(headers["dpop"])}`)),
    );
    remember(await host.call("docs", "echo", { text: "server fails" }).catch((error: unknown) => error));
    remember([host.states(), host.tools()]);
    authorization.expireTokens();
    authorization.interrupt("token", quoteRequest);
    remember(await host.call("docs", "echo", { text: "refused" }).catch((error: unknown) => error));
  }
  const dpopKeys = guarded.seen.flatMap(({ headers }) => headers["dpop"] ?? []);
  const secrets = [...authorization.secrets, ...idp.secrets, idToken, key.pem, "canary-of-the-idp"];
  expect(dpopKeys.length).toBeGreaterThan(3);
  expect(authorization.secrets.size).toBeGreaterThan(5);
  expect(processes.length).toBeGreaterThan(0);
  for (const process of processes) expect(secretsIn(process, secrets)).toEqual([]);
  expect(secretsIn(all(said), secrets)).toEqual([]);
  const files = [...(await filesIn(folder))].filter(([file]) => !file.startsWith(`${folder.path}/own/`));
  expect(files.some(([file]) => file.endsWith("docs.log"))).toBe(true);
  for (const [file, content] of files) expect([file, secretsIn(content, secrets)]).toEqual([file, []]);
});
