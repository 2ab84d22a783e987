import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileSchema } from "../../src/normalise/schema/compile.ts";
import { DiscoveredMCPPrompt } from "../../src/server/discovered-prompt.ts";
import { ConversationTools } from "../../src/server/pinned-tools.ts";
import { PromptRegistry, RegisteredTools } from "../../src/server/registries.ts";
import { acceptable, awkwardName } from "../support/adversarial-names.ts";
import { sampleTool } from "../support/sample-tools.ts";

interface Catalog {
  readonly server: string;
  readonly names: readonly string[];
}

const name = fc.oneof({ weight: 30, arbitrary: awkwardName }, { weight: 1, arbitrary: fc.constant("") });
const catalogs = fc
  .uniqueArray(fc.record({ server: awkwardName, names: fc.array(name, { maxLength: 8 }) }), {
    minLength: 1,
    maxLength: 5,
    selector: ({ server }) => server,
  })
  .chain((settings) => fc.tuple(fc.constant(settings), shuffled(settings), shuffled(settings)));
// Compiling is not what is tested here.
const compiled = compileSchema({ type: "object" }, "gemini");
const compile = () => compiled;
const patience = 600_000;
const options = { numRuns: scaled(10_000, 200), seed: seed() };

function shuffled<T>(items: readonly T[]): fc.Arbitrary<readonly T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}

const pairsOf = (all: readonly Catalog[]) =>
  all.flatMap(({ server, names }) =>
    [...new Set(names)].filter((own) => own !== "").map((own) => [server, own] as const),
  );

describe("in whatever order servers connect", () => {
  test(
    "every tool is reachable, none is misrouted, and the names are the same",
    async () => {
      await fc.assert(
        fc.asyncProperty(catalogs, fc.boolean(), async ([settings, one, other], isAlwaysQualified) => {
          const alwaysQualified = isAlwaysQualified ? settings.slice(-1).map(({ server }) => server) : [];
          const [first, second] = [one, other].map((arrivals) => {
            const registry = new RegisteredTools({
              serverOrder: settings.map(({ server }) => server),
              alwaysQualified,
            });
            for (const { server, names } of arrivals) {
              registry.replaceServer(
                server,
                names.map((own) => sampleTool(server, own, { compile })),
              );
              registry.getAllTools();
            }
            return registry;
          });
          const tools = first?.getAllTools() ?? [];
          expect(tools.map(({ serverName, serverToolName }) => [serverName, serverToolName])).toEqual(
            pairsOf(settings),
          );
          expect(tools.filter((tool) => !acceptable.test(tool.name))).toEqual([]);
          expect(second?.getAllTools().map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name));
          const answers = tools.map(async (tool) => (await first?.getTool(tool.name)?.execute({}))?.returnDisplay);
          expect(await Promise.all(answers)).toEqual(pairsOf(settings).map((pair) => JSON.stringify(pair)));
          const found = pairsOf(settings).map((pair) => first?.find(...pair)?.name);
          expect(found).toEqual(tools.map((tool) => tool.name));
        }),
        options,
      );
    },
    patience,
  );

  test(
    "the same holds for prompts",
    async () => {
      await fc.assert(
        fc.asyncProperty(catalogs, async ([settings, one, other]) => {
          const [first, second] = [one, other].map((arrivals) => {
            const registry = new PromptRegistry({ serverOrder: settings.map(({ server }) => server) });
            for (const { server, names } of arrivals)
              registry.replaceServer(
                server,
                names.map((own) => samplePrompt(server, own)),
              );
            return registry;
          });
          const prompts = first?.getAllPrompts() ?? [];
          expect(prompts.map(({ serverName, serverPromptName }) => [serverName, serverPromptName])).toEqual(
            pairsOf(settings),
          );
          expect(prompts.filter((prompt) => !acceptable.test(prompt.name))).toEqual([]);
          expect(second?.getAllPrompts().map((prompt) => prompt.name)).toEqual(prompts.map((prompt) => prompt.name));
          const answers = prompts.map(async (prompt) => (await first?.getPrompt(prompt.name)?.invoke())?.description);
          expect(await Promise.all(answers)).toEqual(pairsOf(settings).map((pair) => JSON.stringify(pair)));
        }),
        options,
      );
    },
    patience,
  );
});

function samplePrompt(serverName: string, serverPromptName: string): DiscoveredMCPPrompt {
  return new DiscoveredMCPPrompt({
    serverName,
    serverPromptName,
    get: async (own) => ({ description: JSON.stringify([serverName, own]), messages: [], notes: [] }),
  });
}

test(
  "in a conversation, a name means one tool for ever",
  () => {
    fc.assert(
      fc.property(catalogs, ([settings, arrivals, changes]) => {
        const registry = new RegisteredTools({ serverOrder: settings.map(({ server }) => server) });
        const [early, late] = [arrivals.slice(0, 2), arrivals.slice(2)];
        const connect = ({ server, names }: Catalog) =>
          registry.replaceServer(
            server,
            names.map((own) => sampleTool(server, own, { compile })),
          );
        early.forEach(connect);
        const conversation = new ConversationTools(registry);
        const meanings = new Map<string, string>();
        const look = () => {
          const misused = conversation.getAllTools().filter((tool) => {
            const pair = JSON.stringify([tool.serverName, tool.serverToolName]);
            const meant = meanings.get(tool.name) ?? pair;
            meanings.set(tool.name, pair);
            return meant !== pair || conversation.getTool(tool.name) !== tool || !acceptable.test(tool.name);
          });
          expect(misused).toEqual([]);
        };
        look();
        for (const arrival of late) {
          connect(arrival);
          look();
        }
        for (const { server, names } of changes) {
          connect({ server, names: names.toReversed().slice(1) });
          look();
          connect({ server, names });
          look();
        }
        // Each pair has kept the one name that it was first shown under.
        expect(new Set(meanings.values()).size).toBe(meanings.size);
        expect(conversation.getAllTools()).toHaveLength(pairsOf(settings).length);
      }),
      options,
    );
  },
  patience,
);
