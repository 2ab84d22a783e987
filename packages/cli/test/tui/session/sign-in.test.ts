import { browser } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { signInScene } from "../../support/sign-in-scene.ts";
import { openScene } from "../../support/tui/session-scene.ts";

test("the browser opens when the person says so, and what was signed in to is connected in the running app", async () => {
  await using scene = await signInScene();
  await using app = await openScene(scene.here);
  await app.until(({ servers }) => servers.some(({ status }) => status === "needs_auth"));
  app.enter("/mcp auth docs");
  const { key, purpose, url, consent } = await app.asked("url");
  expect({ purpose, scopes: consent?.scopes, issuer: consent?.issuer }).toEqual({
    purpose: "sign_in",
    scopes: ["read"],
    issuer: scene.authorization.issuer,
  });
  app.session.answer(key, { kind: "url", value: "open" });
  expect(await scene.opened()).toBe(url);
  expect((await browser(url)).status).toBe(200);
  await app.shown(/"docs": connected: 1 tool/);
  expect(app.state().servers[0]?.status).toBe("connected");
  expect(app.state().questions).toEqual([]);
});

test("over SSH the address is pasted back; what is of no use is said, and asked for again", async () => {
  await using scene = await signInScene({ env: { SSH_CONNECTION: "10.0.0.1 50000 10.0.0.2 22" } });
  await using app = await openScene(scene.here);
  await app.until(({ servers }) => servers.some(({ status }) => status === "needs_auth"));
  app.enter("/mcp auth docs");
  const first = await app.asked("sign_in");
  const address = first.messages.find(({ kind }) => kind === "address");
  app.session.answer(first.key, { kind: "sign_in", value: "http://127.0.0.1:1/elsewhere?code=1" });
  await app.until(({ questions: [question] }) => question !== undefined && question.key !== first.key);
  const second = await app.asked("sign_in");
  expect(second.messages.map(({ kind }) => kind)).toEqual(["address", "paste_unusable"]);
  const { address: ended } = await browser(address?.kind === "address" ? address.url : "", { visits: false });
  app.session.answer(second.key, { kind: "sign_in", value: ended });
  await app.shown(/"docs": connected: 1 tool/);
});

test("to call it off leaves everything as it was", async () => {
  await using scene = await signInScene();
  await using app = await openScene(scene.here);
  await app.until(({ servers }) => servers.some(({ status }) => status === "needs_auth"));
  app.enter("/mcp auth docs");
  const { key } = await app.asked("url");
  app.session.answer(key, { kind: "url", value: "cancel" });
  await app.until(({ items }) => items.some((item) => item.kind === "note" && item.tone === "error"));
  expect(app.state().servers[0]?.status).toBe("needs_auth");
  expect(scene.authorization.callsTo("token")).toEqual([]);
});

test("with --device the code stays on the screen until it was entered elsewhere", async () => {
  await using scene = await signInScene({ authorization: { deviceInterval: 0.05 } });
  await using app = await openScene(scene.here);
  await app.until(({ servers }) => servers.some(({ status }) => status === "needs_auth"));
  app.enter("/mcp auth docs --device");
  const { messages, canPaste } = await app.asked("sign_in");
  expect(canPaste).toBe(false);
  expect(messages).toMatchObject([{ kind: "device", verificationUri: `${scene.authorization.issuer}/activate` }]);
  const [code] = messages;
  scene.authorization.decideDevice(code?.kind === "device" ? code.userCode : "", "approve");
  await app.shown(/"docs": connected: 1 tool/);
  expect(app.state().questions).toEqual([]);
});

test("a sign-in with a device code can be stopped, and one that fails closes its question", async () => {
  await using scene = await signInScene({ authorization: { deviceInterval: 0.05 } });
  await using app = await openScene(scene.here);
  await app.until(({ servers }) => servers.some(({ status }) => status === "needs_auth"));
  app.enter("/mcp auth --device docs");
  const { key } = await app.asked("sign_in");
  app.session.answer(key, { kind: "sign_in", value: undefined });
  await app.shown(/sign-in to "docs" cancelled/);
  app.enter("/mcp auth docs --device");
  const [code] = (await app.asked("sign_in")).messages;
  scene.authorization.decideDevice(code?.kind === "device" ? code.userCode : "", "deny");
  await app.shown(/refused the sign-in: access_denied/);
  expect(app.state().questions).toEqual([]);
  app.enter("/mcp auth --device");
  await app.shown(/\/mcp auth needs a server name/);
});
