import { join } from "node:path";
import type { Environment } from "@fairlead/core/settings/read/paths";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { certificateVariables, readNetworkFacts, readSecretFacts } from "../../src/doctor/check-state.ts";

test("doctor names the certificate files that cannot be used, and why", async () => {
  await using folder = await temporaryFolder();
  const pem = await folder.write("good.pem", "-----BEGIN CERTIFICATE-----\n");
  const text = await folder.write("bad.pem", "no certificate");
  const missing = join(folder.path, "missing.pem");
  const inFile = join(text, "below");
  const [variable] = certificateVariables;
  const flaws = async (path: string | undefined): Promise<unknown> => {
    const env = path === undefined ? {} : { [variable]: path };
    const { badCertificates, env: used } = await readNetworkFacts({ env } as Partial<Environment> as Environment);
    expect(used).toBe(env);
    return [...badCertificates];
  };
  expect(await flaws(undefined)).toEqual([]);
  expect(await flaws("")).toEqual([]);
  expect(await flaws(pem)).toEqual([]);
  expect(await flaws(folder.path)).toEqual([]);
  expect(await flaws(text)).toEqual([[variable, "the file contains no PEM certificate"]]);
  expect(await flaws(missing)).toEqual([[variable, "the file does not exist"]]);
  expect(await flaws(inFile)).toEqual([[variable, expect.stringMatching(/^(?!the file)\S/)]]);
});

test("doctor reads where secrets are stored and their names, or why they cannot be read", async () => {
  await using folder = await temporaryFolder();
  const facts = (choice: string) =>
    readSecretFacts({
      environment: { env: { FAIRLEAD_SECRET_STORE: choice }, platform: process.platform },
      locations: { state: join(folder.path, "state") },
      trust: { trusted: false },
      servers: [],
    } as unknown as Configuration);
  const programs = new Map();
  expect(await facts("file")).toEqual({ servers: [], programs, store: { backend: "file", names: new Set() } });
  const error = expect.objectContaining({ code: "usage" });
  expect(await facts("other")).toEqual({ servers: [], programs, store: { error } });
});
