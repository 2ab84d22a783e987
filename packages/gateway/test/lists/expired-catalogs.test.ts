import { stdioServer } from "@fairlead/test-servers";
import type { JsonObject, Session } from "@fairlead/wire";
import { expect, test } from "vitest";
import { gatewayScene } from "../support/gateway-scene.ts";

async function countOf(client: Session, list: "tools" | "prompts" | "resources"): Promise<number> {
  const { [list]: items } = await client.request(`${list}/list`);
  return (items as readonly JsonObject[]).length;
}

test.for([
  ["legacy", ["--modern-only"]],
  ["legacy", []],
  ["modern", ["--modern-only"]],
] as const)(
  "the first %s client gets all lists of a modern server (%j) whose cached catalog has expired",
  async ([era, flags]) => {
    const servers = { s: stdioServer("conformance", ...flags) };
    await using first = await gatewayScene({ servers });
    const before = await first.client({ era });
    const lists = ["tools", "prompts", "resources"] as const;
    const counts = [];
    for (const list of lists) counts.push(await countOf(before, list));
    expect(Math.min(...counts)).toBeGreaterThan(0);
    await first.gateway[Symbol.asyncDispose]();

    await using here = await gatewayScene({ servers, home: first.home });
    const client = await here.client({ era });
    const again = [];
    for (const list of lists) again.push(await countOf(client, list));
    expect(again).toEqual(counts);
  },
);
