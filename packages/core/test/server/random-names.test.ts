import { createHash } from "node:crypto";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileSchema } from "../../src/normalise/schema/compile.ts";
import { toModelName } from "../../src/normalise/tool-name.ts";
import type { Catalog } from "../../src/server/catalog.ts";
import { ClientPins, listsFor, type NameForm, type Pin, type SeenCatalog } from "../../src/server/names.ts";
import { isOfServer } from "../../src/server/own-address.ts";
import { ConversationTools } from "../../src/server/pinned-tools.ts";
import { RegisteredTools } from "../../src/server/registries.ts";
import { viewAddressesOf } from "../../src/server/tool-view.ts";
import { acceptable, awkwardName } from "../support/adversarial-names.ts";
import { sampleTool } from "../support/sample-tools.ts";

const servers = ["a", "b", "a__b", "x".repeat(70), "demo"] as const;
const forms = new Map<string, NameForm>([["demo", "qualified"]]);
const names = fc.uniqueArray(awkwardName, { maxLength: 6 });
const uris = fc.uniqueArray(fc.constantFrom("x://1", "y://1", "z://1", "ui://1", "UI://1", "ui://fairlead.a/1"), {
  maxLength: 4,
});
const templates = fc.uniqueArray(fc.constantFrom("x://{id}", "y://{+path}", "ui://{+path}"), { maxLength: 2 });
const catalog = fc.record({ tools: names, prompts: names, uris, templates });
const order = fc.shuffledSubarray([...servers], { minLength: servers.length });
const visible = fc.subarray([...servers]);
/** What happens to a reader: servers list something else, and the reader sees a part of the lists. */
const step = fc.record({
  changed: fc.dictionary(fc.constantFrom(...servers), catalog, { minKeys: 1 }),
  arrivals: order,
  seen: fc.integer({ min: 0, max: 12 }),
});
const history = fc.array(step, { minLength: 1, maxLength: 5 });
const options = { numRuns: scaled(10_000, 100), seed: seed() };
const patience = 600_000;

const lists = ["tools", "prompts", "resources", "templates"] as const;
const compiled = compileSchema({ type: "object" }, "gemini");
const compile = () => compiled;
type Offer = typeof catalog extends fc.Arbitrary<infer T> ? T : never;
type Claimed = readonly [server: string, name: string];

/**
 * The rule in other words: each item, in order, gets the first of its possible names that is free. What a reader has
 * seen comes before all items.
 */
function expected(claims: readonly Claimed[], pins: readonly Pin[], formOf: (server: string) => NameForm | undefined) {
  const owners = new Map(pins.map(({ server, name, as }) => [as, JSON.stringify([server, name])]));
  return claims.map(([server, name]) => {
    const pair = JSON.stringify([server, name]);
    const pinned = pins.find((pin) => pin.server === server && pin.name === name)?.as;
    const as = pinned ?? possibleNames(server, name, formOf(server)).find((each) => !owners.has(each)) ?? "";
    owners.set(as, pair);
    return as;
  });
}

function possibleNames(server: string, name: string, form: NameForm | undefined): readonly string[] {
  const qualified = toModelName(`${server}__${name}`);
  const names = form === "qualified" ? [qualified] : [toModelName(name), qualified];
  let text = JSON.stringify([server, name]);
  for (let tries = 0; tries < 5; tries += 1) {
    text = createHash("sha256").update(text).digest("hex");
    names.push(`${qualified.slice(0, -9)}_${text.slice(0, 8)}`);
  }
  return names;
}

const claimsIn = (offers: ReadonlyMap<string, Offer>, list: "tools" | "prompts", from: readonly string[]) =>
  from.flatMap((server) => offers.get(server)?.[list].map((name): Claimed => [server, name]) ?? []);

function toCatalog({ tools, prompts, uris: listed, templates: produced }: Offer): SeenCatalog["catalog"] {
  const whole: Pick<Catalog, "tools" | "prompts" | "resources" | "resourceTemplates"> = {
    tools: tools.map((name) => ({ name, inputSchema: {}, _meta: { ui: { resourceUri: "ui://1" } } })),
    prompts: prompts.map((name) => ({ name, arguments: [] })),
    resources: listed.map((uri) => ({ uri, name: uri })),
    resourceTemplates: produced.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  };
  return whole;
}

test(
  "the names of a client are unique, valid and its own, and nothing that it has seen ever means something else",
  () => {
    fc.assert(
      fc.property(order, visible, history, (settings, reach, steps) => {
        const offers = new Map<string, Offer>();
        const told: Pin[] = [];
        const pins = new ClientPins({ onSeen: (seen) => void told.push(...seen) });
        const meanings = new Map<string, string>();
        const seenServers = settings.filter((server) => reach.includes(server));
        for (const { changed, seen } of steps) {
          for (const [server, offer] of Object.entries(changed)) offers.set(server, offer);
          const catalogs = seenServers.flatMap((server) => {
            const offer = offers.get(server);
            return offer === undefined ? [] : [{ server, catalog: toCatalog(offer), form: forms.get(server) }];
          });
          const view = listsFor(catalogs, pins);
          for (const list of ["tools", "prompts"] as const) {
            const claims = claimsIn(offers, list, seenServers);
            const as = [...view[list].keys()];
            expect(as).toEqual(expected(claims, pins[list].all, (server) => forms.get(server)));
            expect(as.filter((name) => !acceptable.test(name))).toEqual([]);
            expect([...view[list].values()].map(({ server, name }) => [server, name])).toEqual(claims);
          }
          for (const list of lists)
            for (const [as, { server, name, definition }] of [...view[list]].slice(0, seen)) {
              expect(pins.see(list, [{ server, name, as }])).toHaveLength(1);
              const meaning = JSON.stringify([server, name]);
              expect(meanings.get(`${list} ${as}`) ?? meaning).toBe(meaning);
              meanings.set(`${list} ${as}`, meaning);
              expect(definition[list === "resources" ? "uri" : list === "templates" ? "uriTemplate" : "name"]).toBe(as);
              if (list === "resources") expect(pins.serverOf(as)).toBe(server);
            }
          // Each server's views and skills are listed, and the address of a tool's view leads to the tool's server.
          const unique = [...view.resources.values()].filter(({ name }) => isOfServer(name));
          expect(unique.map(({ server, name }) => [server, name])).toEqual(
            catalogs.flatMap(({ server, catalog: { resources } }) =>
              resources.flatMap(({ uri }) => (isOfServer(uri) ? [[server, uri]] : [])),
            ),
          );
          for (const { server, definition } of view.tools.values())
            expect(viewAddressesOf(definition).map((as) => view.views.get(as))).toEqual([{ server, uri: "ui://1" }]);
          // What was told to the relay is enough for the next host.
          const next = new ClientPins({
            earlier: lists.flatMap((list) => pins[list].all.map((pin) => ({ ...pin, list }))),
          });
          expect(told).toHaveLength(lists.reduce((sum, list) => sum + pins[list].all.length, 0));
          const { addressOf: _now, ...now } = listsFor(catalogs, pins);
          const { addressOf: _then, ...then } = listsFor(catalogs, next);
          expect(then).toEqual(now);
        }
      }),
      options,
    );
  },
  patience,
);

test(
  "the names of a registry depend on the settings only, and a conversation keeps those that its model has seen",
  () => {
    fc.assert(
      fc.property(order, history, fc.nat(), (settings, steps, opensAt) => {
        const offers = new Map<string, Offer>();
        const alwaysQualified = [...forms.keys()];
        const registry = new RegisteredTools({ serverOrder: settings, alwaysQualified });
        let conversation: ConversationTools | undefined;
        let pinned: readonly Pin[] = [];
        for (const [at, { changed, arrivals }] of steps.entries()) {
          for (const server of arrivals) {
            const offer = changed[server];
            if (offer === undefined) continue;
            offers.set(server, offer);
            registry.replaceServer(server, () => offer.tools.map((tool) => sampleTool(server, tool, { compile })));
            registry.getEveryTool();
          }
          const claims = claimsIn(offers, "tools", settings);
          const namesIn = (tools: Pick<RegisteredTools, "getEveryTool">) =>
            tools.getEveryTool().map(({ name }) => name);
          expect(namesIn(registry)).toEqual(expected(claims, [], (server) => forms.get(server)));
          if (at === opensAt % steps.length) conversation = new ConversationTools(registry);
          else if (conversation !== undefined)
            expect(namesIn(conversation)).toEqual(expected(claims, pinned, () => "qualified"));
          if (conversation === undefined) continue;
          pinned = [...conversation.names()];
          expect(namesIn(new ConversationTools(registry, pinned))).toEqual(
            pinned.length === 0 ? namesIn(registry) : namesIn(conversation),
          );
        }
      }),
      options,
    );
  },
  patience,
);
