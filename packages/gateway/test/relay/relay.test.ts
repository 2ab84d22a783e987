import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Answer, callOf, initialize, initialized, relayScene } from "./scene.ts";

const echo: Answer = async (_method, params, { send }) => {
  await send();
  return { echoed: params };
};

function signalled(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

function never(): Promise<never> {
  return new Promise(() => {});
}

it("passes requests and responses on as they are", async () => {
  await using scene = await relayScene(echo);
  scene.send(callOf(1));
  scene.send(callOf("one"));
  expect(await scene.answer(1)).toMatchObject({ result: { echoed: { name: "write_file", arguments: { id: 1 } } } });
  expect(await scene.answer("one")).toMatchObject({ result: { echoed: { arguments: { id: "one" } } } });
});

it("passes on messages that arrive in pieces and several at a time", async () => {
  await using scene = await relayScene(echo);
  const text = [callOf(1), callOf(2, "größe"), callOf(3)].map((each) => `${JSON.stringify(each)}\n`).join("");
  for (const character of text.slice(0, 150)) scene.write(character);
  scene.write(text.slice(150));
  expect(await scene.answer(1)).toHaveProperty("result");
  expect(await scene.answer(2)).toMatchObject({ result: { echoed: { name: "größe" } } });
  expect(await scene.answer(3)).toHaveProperty("result");
});

it("answers a request that was sent on to its server as lost, and never repeats it", async () => {
  let isCut = false;
  await using scene = await relayScene(async (_method, _params, { send }) => {
    await send();
    if (!isCut) {
      isCut = true;
      // The line is written: the relay reads it even though the host is gone.
      setImmediate(() => setImmediate(() => scene.cut()));
    }
    return never();
  }, echo);
  scene.send(callOf(1));
  expect(await scene.answer(1)).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: {
      code: -32603,
      message: "the gateway was restarted; files.write_file may have run",
      data: { reason: "lost", subject: "files.write_file" },
    },
  });
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
  expect(scene.received).toEqual(["1 tools/call", "2 tools/call"]);
});

it.each([
  { loss: "removed", lose: (path: string) => rmSync(path) },
  { loss: "emptied", lose: (path: string) => writeFileSync(path, "") },
])("never repeats a request if the host's file of sent requests was $loss", async ({ lose }) => {
  await using scene = await relayScene(async (_method, params, { send }) => {
    await send();
    if (params["name"] !== "last") return {};
    for (const name of readdirSync(scene.folder.path)) if (name.endsWith(".sent")) lose(join(scene.folder.path, name));
    setImmediate(() => setImmediate(() => scene.cut()));
    return never();
  }, echo);
  scene.send(callOf(1));
  expect(await scene.answer(1)).toHaveProperty("result");
  scene.send(callOf(2, "last"));
  expect(await scene.answer(2)).toMatchObject({ error: { data: { reason: "lost" } } });
  scene.send(callOf(3));
  expect(await scene.answer(3)).toHaveProperty("result");
  expect(scene.received).toEqual(["1 tools/call", "1 tools/call", "2 tools/call"]);
});

it("knows the open request after many answered ones, also if the client uses an id again", async () => {
  await using scene = await relayScene(async (_method, params, { send }) => {
    await send();
    if (params["name"] !== "last") return {};
    setImmediate(() => setImmediate(() => scene.cut()));
    return never();
  }, echo);
  for (let count = 0; count < 150; count += 1) {
    scene.send(callOf(count % 3));
    expect(await scene.answer(count % 3)).toHaveProperty("result");
  }
  scene.send(callOf(1, "last"));
  expect(await scene.answer(1)).toMatchObject({ error: { data: { reason: "lost", subject: "files.last" } } });
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
  expect(scene.received.filter((line) => line.startsWith("2"))).toEqual(["2 tools/call"]);
});

it("sends a request again that was not sent on", async () => {
  await using scene = await relayScene(async () => {
    scene.cut();
    return never();
  }, echo);
  scene.send(callOf(1));
  expect(await scene.answer(1)).toHaveProperty("result");
  expect(scene.received).toEqual(["1 tools/call", "2 tools/call"]);
});

it("gives a request that ends every host to three hosts, and the next one works", async () => {
  let isFatal = true;
  await using scene = await relayScene(async (method, params, request) => {
    if (!isFatal) return echo(method, params, request);
    scene.cut();
    return never();
  });
  scene.send(callOf(1));
  expect(await scene.answer(1)).toMatchObject({
    error: { message: "the gateway stopped 3 times while it handled this request; no server received the request" },
  });
  isFatal = false;
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
});

it("tells a new host what the client told the one before, and the client that lists may have changed", async () => {
  await using scene = await relayScene(async () => ({}));
  scene.send(initialize);
  await scene.answer(0);
  scene.send(initialized);
  scene.send({ jsonrpc: "2.0", id: 1, method: "logging/setLevel", params: { level: "error" } });
  scene.send({ jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri: "a://1" } });
  scene.send({ jsonrpc: "2.0", id: 3, method: "resources/subscribe", params: { uri: "a://2" } });
  scene.send({ jsonrpc: "2.0", id: 4, method: "resources/unsubscribe", params: { uri: "a://1" } });
  await scene.answer(4);
  scene.cut();
  expect(await scene.next()).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  expect(await scene.next()).toEqual({ jsonrpc: "2.0", method: "notifications/resources/list_changed" });
  scene.send(callOf(5));
  await scene.answer(5);
  expect(scene.received.filter((line) => line.startsWith("2"))).toEqual([
    "2 initialize",
    "2 notifications/initialized",
    "2 logging/setLevel",
    "2 resources/subscribe",
    "2 tools/call",
  ]);
});

it("does not give a late answer to a question of a lost host to its successor", async () => {
  const asks: Answer = async (_method, params, { client, id }) => {
    const answer = await client.request(
      "elicitation/create",
      { message: `for ${String(params["name"])}` },
      { about: id },
    );
    return { answer };
  };
  await using scene = await relayScene(asks);
  scene.send(callOf(1, "first"));
  const first = await scene.next();
  expect(first).toMatchObject({ method: "elicitation/create", params: { message: "for first" } });
  scene.cut();
  expect(await scene.next()).toMatchObject({
    method: "notifications/cancelled",
    params: { requestId: first["id"] },
  });
  const second = await scene.next();
  expect(second).toMatchObject({ method: "elicitation/create", params: { message: "for first" } });
  expect(second["id"]).not.toBe(first["id"]);
  scene.send({ jsonrpc: "2.0", id: first["id"], result: { action: "accept", late: true } });
  scene.send({ jsonrpc: "2.0", id: second["id"], result: { action: "decline" } });
  expect(await scene.answer(1)).toMatchObject({ result: { answer: { action: "decline" } } });
});

it("does not send a cancelled request again", async () => {
  const { promise: isHere, resolve: here } = signalled();
  await using scene = await relayScene(async () => {
    here();
    return never();
  }, echo);
  scene.send(callOf(1));
  await isHere;
  scene.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  scene.send(callOf(2));
  scene.cut();
  expect(await scene.answer(2)).toHaveProperty("result");
  expect(scene.received.filter((line) => line === "2 tools/call")).toHaveLength(1);
});

it("gives the client the responses to its open requests after the client has closed its end", async () => {
  const { promise: isEnding, resolve: ending } = signalled();
  await using scene = await relayScene(async (_method, params) => {
    if (params["name"] === "slow") await isEnding;
    return { name: params["name"] };
  });
  scene.send(initialize);
  scene.send({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: { name: "slow" } });
  scene.send(callOf(2, "slow"));
  // A script may leave out the last newline.
  scene.write(JSON.stringify(callOf(3, "last")));
  const ended = scene.end();
  expect(await scene.answer(3)).toMatchObject({ result: { name: "last" } });
  ending();
  expect(await scene.answer(2)).toMatchObject({ result: { name: "slow" } });
  await ended;
});

it("does not wait for the end of a subscription after the client has closed its end", async () => {
  await using scene = await relayScene(() => never());
  scene.send({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: {} });
  await scene.end();
});

it("fails questions that a client with a closed end cannot answer", async () => {
  const { promise: isEnding, resolve: ending } = signalled();
  await using scene = await relayScene(async (_method, params, { client, id }) => {
    const asked = (): Promise<unknown> =>
      client.request("elicitation/create", {}, { about: id }).catch((error: unknown) => String(error));
    const answers = [await asked()];
    if (params["name"] === "twice") await isEnding.then(async () => answers.push(await asked()));
    return { answers };
  });
  scene.send(callOf(1, "twice"));
  expect(await scene.next()).toMatchObject({ method: "elicitation/create" });
  const ended = scene.end();
  ending();
  const cannot = expect.stringContaining("the client has closed stdin and cannot answer");
  expect(await scene.next()).toMatchObject({ id: 1, result: { answers: [cannot, cannot] } });
  await ended;
});

it("answers a lost request after the client has closed its end", async () => {
  await using scene = await relayScene(async (_method, _params, { send }) => {
    await send();
    setImmediate(() => setImmediate(() => scene.cut()));
    return never();
  });
  scene.send(callOf(1));
  const ended = scene.end();
  expect(await scene.answer(1)).toMatchObject({ error: { data: { reason: "lost" } } });
  await ended;
  expect(scene.hosts()).toBe(1);
});

it("ends with a client that reads no more, and the host cancels what is open", async () => {
  const { promise: cancelled, resolve } = signalled();
  const { promise: isHere, resolve: here } = signalled();
  await using scene = await relayScene(async (_method, _params, { signal }) => {
    signal.addEventListener("abort", () => resolve());
    here();
    return never();
  });
  scene.send(callOf(1));
  await isHere;
  await scene.kill();
  await cancelled;
});

it("answers open requests when no host can be had, and tries again with the next one", async () => {
  await using scene = await relayScene(async (method, params, request) => {
    if (method !== "fails") return echo(method, params, request);
    scene.cut();
    return never();
  });
  scene.send({ jsonrpc: "2.0", id: 1, method: "fails" });
  expect(await scene.answer(1)).toMatchObject({ error: { code: -32603, data: { next: "fairlead daemon logs" } } });
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
});

it("reads the messages of a batch one by one", async () => {
  await using scene = await relayScene(echo);
  scene.send([callOf(1), initialized, callOf(2)]);
  expect(await scene.answer(1)).toHaveProperty("result");
  expect(await scene.answer(2)).toHaveProperty("result");
});

it("does not repeat a request that was sent on when the host is stopped on purpose", async () => {
  const { promise: isSent, resolve: sent } = signalled();
  await using scene = await relayScene(async (_method, _params, { send }) => {
    await send();
    sent();
    return never();
  }, echo);
  scene.send(callOf(1));
  await isSent;
  await scene.stop();
  expect(await scene.answer(1)).toMatchObject({ error: { data: { reason: "lost" } } });
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
  expect(scene.received).toEqual(["1 tools/call", "2 tools/call"]);
});

it("does not start another host after one that was stopped while nothing was open", async () => {
  await using scene = await relayScene(echo);
  scene.send(callOf(1));
  await scene.answer(1);
  await scene.stop();
  expect(scene.hosts()).toBe(1);
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
  expect(scene.hosts()).toBe(2);
});

it("tells the client and the user why it cannot be served", async () => {
  await using scene = await relayScene(echo);
  scene.failNext("the settings cannot be read");
  scene.cut();
  scene.send(callOf(1));
  expect(await scene.answer(1)).toMatchObject({
    error: { code: -32603, message: "the settings cannot be read", data: { reason: "unreachable" } },
  });
  expect(scene.problems).toEqual(["the settings cannot be read"]);
  scene.send(callOf(2));
  expect(await scene.answer(2)).toHaveProperty("result");
});

it("tells each new host all names that the client has seen of earlier hosts", async () => {
  const seen = (name: string) => ({ list: "tools" as const, server: "bank", name, as: name });
  const answer: Answer = async (_method, params, { names }) => {
    const before = names?.earlier?.map(({ as }) => as) ?? [];
    names?.onSeen?.([seen(String(params["name"]))]);
    return { before };
  };
  await using scene = await relayScene(answer);
  scene.send(callOf(1, "send_money"));
  expect(await scene.answer(1)).toMatchObject({ result: { before: [] } });
  scene.cut();
  scene.send(callOf(2, "lend_money"));
  expect(await scene.answer(2)).toMatchObject({ result: { before: ["send_money"] } });
  scene.cut();
  scene.send(callOf(3, "get_money"));
  expect(await scene.answer(3)).toMatchObject({ result: { before: ["send_money", "lend_money"] } });
});
