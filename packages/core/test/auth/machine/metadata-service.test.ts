import { webServer } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { requestAssertion } from "../../../src/auth/machine/metadata-service.ts";
import { createBoundedFetch } from "../../../src/net/bounded-fetch.ts";
import { stateOf } from "../signed-in-host.ts";
import { machineScene, newKey, workloadToken } from "./machine-scene.ts";

const serverName = "docs";

test.each(["gcp", "azure", "github"] as const)(
  "the JWT of %s is requested for the authorization server",
  async (service) => {
    const key = newKey();
    const issuer = "https://cloud.example";
    await using scene = await machineScene({ trustedIssuers: [{ issuer, publicKey: key.publicKey }] });
    const jwt = workloadToken(key.privateKey, { iss: issuer, aud: scene.authorization.issuer });
    await using cloud = await webServer((_request, response) => {
      const body = { gcp: jwt, azure: JSON.stringify({ access_token: jwt }), github: JSON.stringify({ value: jwt }) };
      response.writeHead(200).end(body[service]);
    });
    const env = {
      GCE_METADATA_HOST: new URL(cloud.origin).host,
      IDENTITY_ENDPOINT: `${cloud.origin}/msi/token`,
      IDENTITY_HEADER: "managed",
      ACTIONS_ID_TOKEN_REQUEST_URL: `${cloud.origin}/oidc?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "job",
    };
    await using host = await scene.host({ kind: "jwt_bearer", assertionFrom: service }, { env });
    await host.start();
    expect(stateOf(host)).toMatchObject({ status: "connected" });
    const [asked] = cloud.seen;
    const query = new URL(asked?.path ?? "", cloud.origin).searchParams;
    expect(query.get(service === "azure" ? "resource" : "audience")).toBe(scene.authorization.issuer);
    const { "metadata-flavor": flavor, "x-identity-header": identity, authorization } = asked?.headers ?? {};
    expect([flavor, identity, authorization]).toEqual(
      {
        gcp: ["Google", undefined, undefined],
        azure: [undefined, "managed", undefined],
        github: [undefined, undefined, "Bearer job"],
      }[service],
    );
  },
);

test("only the metadata service itself is exempt: no redirect is followed, and no proxy is asked", async () => {
  await using elsewhere = await webServer((_request, response) => response.end("a.b.c"));
  await using cloud = await webServer((_request, response) =>
    response.writeHead(302, { location: `${elsewhere.origin}/` }).end(),
  );
  const env = { GCE_METADATA_HOST: new URL(cloud.origin).host, HTTP_PROXY: elsewhere.origin };
  const asked = requestAssertion("gcp", { serverName, env, audience: "x" });
  await expect(asked).rejects.toMatchObject({ code: "auth_failed" });
  expect(elsewhere.seen).toEqual([]);
  // No other request may reach such an address.
  const fetch = createBoundedFetch({ near: "https://example.com", env: {} });
  await expect(fetch("http://169.254.169.254/")).rejects.toMatchObject({ code: "denied" });
  await expect(fetch("https://169.254.169.254/")).rejects.toMatchObject({ code: "denied" });
});

test("a machine asks Azure's local service without the proxy, and GitHub's service through the proxy", async () => {
  await using proxy = await webServer((_request, response) => response.end('{"value":"from the proxy"}'));
  await using local = await webServer((_request, response) => response.end('{"access_token":"from here"}'));
  const env = {
    HTTP_PROXY: proxy.origin,
    IDENTITY_ENDPOINT: `${local.origin}/msi`,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${local.origin}/oidc`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "job",
  };
  const ask = (service: "azure" | "github") => requestAssertion(service, { serverName, env, audience: "x" });
  expect([await ask("azure"), await ask("github")]).toEqual(["from here", "from the proxy"]);
  expect([local.seen.length, proxy.seen.length]).toEqual([1, 1]);
});

test("a job without the right to a token is told which one", async () => {
  const asked = requestAssertion("github", { serverName, env: {}, audience: "x" });
  await expect(asked).rejects.toMatchObject({
    message: 'assertion of "docs" cannot be used: github gives this process no token',
    next: 'Give the job "permissions: id-token: write".',
  });
});

test("each service is asked as its documentation says, and answers with the whole text or one member", async () => {
  await using cloud = await webServer(({ path }, response) => {
    response.end(path.startsWith("/computeMetadata") ? " a.b.c \n" : '{"access_token":"azure","value":"github"}');
  });
  const env = {
    GCE_METADATA_HOST: new URL(cloud.origin).host,
    IDENTITY_ENDPOINT: `${cloud.origin}/msi`,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${cloud.origin}/oidc?api-version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "job",
  };
  const tokens = [];
  for (const service of ["gcp", "azure", "github"] as const)
    tokens.push(await requestAssertion(service, { serverName, env, audience: "https://x" }));
  expect(tokens).toEqual(["a.b.c", "azure", "github"]);
  expect(cloud.seen.map(({ path }) => path)).toEqual([
    "/computeMetadata/v1/instance/service-accounts/default/identity?audience=https%3A%2F%2Fx&format=full",
    "/msi?api-version=2019-08-01&resource=https%3A%2F%2Fx",
    "/oidc?api-version=2&audience=https%3A%2F%2Fx",
  ]);
  expect(cloud.seen[1]?.headers["x-identity-header"]).toBe("");
});

test("an answer without the token is empty, and an error names the service's address", async () => {
  await using cloud = await webServer(({ path }, response) =>
    path.startsWith("/empty") ? response.end('{"other":1}') : response.writeHead(403).end(),
  );
  const ask = (endpoint: string) =>
    requestAssertion("azure", { serverName, env: { IDENTITY_ENDPOINT: endpoint }, audience: "x" });
  expect(await ask(`${cloud.origin}/empty`)).toBe("");
  await expect(ask(`${cloud.origin}/refused`)).rejects.toMatchObject({
    code: "auth_failed",
    message: `assertion of "docs" cannot be used: ${cloud.origin} answered HTTP 403`,
    next: "Run Fairlead on an Azure machine that has a managed identity.",
  });
  await expect(ask("no address")).rejects.toThrow("the environment has no valid URL of the metadata service");
});

test.each([{ ACTIONS_ID_TOKEN_REQUEST_URL: "https://x" }, { ACTIONS_ID_TOKEN_REQUEST_TOKEN: "job" }])(
  "a job with only %j gets no token",
  async (env) => {
    const asked = requestAssertion("github", { serverName, env, audience: "x" });
    await expect(asked).rejects.toThrow("github gives this process no token");
  },
);
