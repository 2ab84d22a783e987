import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { assumedModel } from "../../../src/model/assumed.ts";
import { RegisteredTool } from "../../../src/server/registered-tool.ts";
import { declareOwnFunction, type OwnFunction } from "../../../src/turn/tools/own-functions.ts";
import { keyOf, type OfferedFrom, type ToolOffer, ToolOffers } from "../../../src/turn/tools/tool-offer.ts";
import { generatedTools } from "../../support/generated-tools.ts";

const budget = 8_000;

/** All tools may be offered. */
function from(tools: readonly RegisteredTool[]): OfferedFrom {
  const byKey = new Map(tools.map((tool) => [keyOf(tool), tool]));
  return { tools, find: (key) => byKey.get(key) };
}

const tokensOf = ({ declarations }: ToolOffer): number =>
  countTokens(
    JSON.stringify(
      declarations.map(({ name, description, parametersJsonSchema: parameters }) => ({
        name,
        description,
        parameters,
      })),
    ),
  );

test.each([
  [527, 70],
  [10_000, 40],
])(
  "declarations of %i tools of %i servers stay within the budget, whatever is found and stored",
  async (count, servers) => {
    const tools = generatedTools(count, servers).map(
      ({ server: serverName, name: serverToolName, description, inputSchema: parameterSchemaJson }) =>
        new RegisteredTool({ serverName, serverToolName, description, parameterSchemaJson }),
    );
    const offers = new ToolOffers({
      model: assumedModel,
      budget: { tokens: budget },
      declareOwn: (own) => declareOwnFunction(own, (name) => name),
      isAlwaysLoaded: (server) => server === "server-1",
      usedBefore: tools
        .slice(0, 20)
        .map(({ serverName, serverToolName }) => JSON.stringify([serverName, serverToolName])),
    });
    const all = from(tools);
    const resources: readonly OwnFunction[] = ["list_resources", "read_resource"];
    const first = await offers.update(all, resources);
    expect(tokensOf(first)).toBeLessThanOrEqual(budget);
    expect(first.declarations.length).toBeGreaterThan(5);
    for (let found = 0; found < 200; found += 50) {
      offers.reveal(tools.slice(found * 2, found * 2 + 50));
      const next = await offers.update(all, [...resources, "read_result"]);
      expect(tokensOf(next)).toBeLessThanOrEqual(budget);
      expect(next.tokens).toBeLessThanOrEqual(budget);
      expect(next.declarations.map(({ name }) => name)).toContain("read_result");
      expect(JSON.stringify(next.declarations).startsWith(JSON.stringify(first.declarations).slice(0, -1))).toBe(true);
    }
  },
);

test("what a resumed conversation was offered is decided again if it does not fit any longer", async () => {
  const tools = generatedTools(527, 70).map(
    ({ server: serverName, name: serverToolName, description, inputSchema: parameterSchemaJson }) =>
      new RegisteredTool({ serverName, serverToolName, description, parameterSchemaJson }),
  );
  const earlier = tools.map(({ serverName: server, serverToolName: name }) => ({ server, name }));
  const offers = new ToolOffers({
    model: assumedModel,
    budget: { tokens: budget },
    declareOwn: (own) => declareOwnFunction(own, (name) => name),
    isAlwaysLoaded: () => false,
    usedBefore: [],
    earlier,
  });
  const first = await offers.update(from(tools), []);
  expect(tokensOf(first)).toBeLessThanOrEqual(budget);
  expect(first.declarations.map(({ name }) => name)).toContain("search_tools");
});
