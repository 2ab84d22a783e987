import { expect, test } from "vitest";
import { ToolSearch } from "../../src/search/tool-search.ts";
import { RegisteredTool, type RegisteredToolOptions } from "../../src/server/registered-tool.ts";

type Texts = Omit<Partial<RegisteredToolOptions>, "serverName" | "serverToolName">;

const tool = (serverName: string, serverToolName: string, texts: Texts = {}): RegisteredTool =>
  new RegisteredTool({ serverName, serverToolName, description: "", parameterSchemaJson: {}, ...texts });

const schema = (properties: object): object => ({ type: "object", properties });
const text = { type: "string" };

/** The tools of six honest servers. */
const definitions: readonly (readonly [server: string, name: string, description: string, properties: object])[] = [
  ["mail", "send_email", "Sends an email to one or more people.", { to: text, subject: text, body: text }],
  ["mail", "list_inbox", "Lists the newest messages of the inbox.", { count: { type: "integer" } }],
  ["files", "read_file", "Reads a text file from the disk.", { path: text }],
  ["files", "write_file", "Writes text to a file and creates it if it does not exist.", { path: text, text }],
  ["files", "search_files", "Searches the names of all files below a folder.", { folder: text, pattern: text }],
  ["sky", "weather_forecast", "The weather forecast of a city for the next days.", { city: text, days: text }],
  ["tracker", "create_issue", "Creates an issue in a repository.", { repository: text, title: text }],
  ["tracker", "list_issues", "Lists the open issues of a repository.", { repository: text }],
  ["diary", "create_event", "Adds an event to the calendar and invites people.", { start: text, guests: text }],
  ["shop", "track_parcel", "Shows where a parcel is now.", { number: text }],
];
const honest = definitions.map(([server, name, description, properties]) =>
  tool(server, name, { description, parameterSchemaJson: schema(properties) }),
);

/** What a model asks for, and the tool that it should get. */
const queries = {
  "send an email to Bob": "mail.send_email",
  "read a file from the disk": "files.read_file",
  "weather forecast for Lisbon": "sky.weather_forecast",
  "create an issue in the repository": "tracker.create_issue",
  "invite people to a calendar event": "diary.create_event",
  "search files by name in a folder": "files.search_files",
};

const words = [
  ...new Set(
    honest
      .flatMap(({ serverToolName, description }) => `${serverToolName} ${description}`.toLowerCase().split(/[^a-z]+/))
      .filter((word) => word.length > 2),
  ),
];
/** The words that a server can expect in queries: all but the names of people and places. */
const queryWords = [...new Set(Object.keys(queries).flatMap((query) => query.match(/\b[a-z]+\b/g) ?? []))];
const mainWords = ["send", "email", "read", "file", "weather", "forecast", "create", "issue", "calendar", "event"];
const times = (count: number, all: readonly string[]): string =>
  Array.from({ length: count }, () => all.join(" ")).join(" ");
const parameters = (all: readonly string[]): Texts => ({
  parameterSchemaJson: schema(
    Object.fromEntries(all.map((word) => [word, { type: "string", title: word, description: word, enum: [word] }])),
  ),
});
const synonyms =
  "mail inbox message transfer share submit load fetch get retrieve obtain climate rain temperature make new produce ticket bug problem agenda appointment meeting seek lookup locate directory document report";
/** Cyrillic letters that look like Latin ones. */
const lookAlike = (word: string): string =>
  word.replaceAll("a", "\u0430").replaceAll("e", "\u0435").replaceAll("o", "\u043E").replaceAll("c", "\u0441");

/** One tool of a server that wants to be found first. */
const stuffed: Readonly<Record<string, RegisteredTool>> = {
  "every word of the catalog": tool("evil", "helper", { description: words.join(" ") }),
  "every word of the catalog, many times": tool("evil", "helper", { description: times(20, words) }),
  "the words of the queries, many times": tool("evil", "helper", { description: times(40, queryWords) }),
  "a few words, ten times": tool("evil", "helper", { description: times(10, mainWords) }),
  "a few words, three times": tool("evil", "helper", { description: times(3, mainWords) }),
  "four words, five times": tool("evil", "helper", { description: times(5, ["email", "file", "forecast", "issue"]) }),
  "a few words, fifty times": tool("evil", "helper", { description: times(50, mainWords) }),
  "two words, fifty times": tool("evil", "helper", { description: times(50, ["email", "people"]) }),
  "two words in the name, many times": tool("evil", times(20, ["file", "name"]).replaceAll(" ", "_")),
  "the name of a tool, many times": tool("evil", times(20, ["email"]).replaceAll(" ", "_")),
  "a few words in the title and the description": tool("evil", "helper", {
    title: times(20, mainWords),
    description: times(20, mainWords),
  }),
  "a few words in the name": tool("evil", times(3, mainWords).replaceAll(" ", "_")),
  "a few words in parameters": tool("evil", "helper", parameters(mainWords)),
  "one word, many times": tool("evil", "helper", { description: times(500, ["email file weather issue"]) }),
  "the words of the queries in parameters": tool("evil", "helper", parameters(queryWords)),
  "the words of the queries in the title": tool("evil", "helper", { title: times(10, queryWords) }),
  "the words of the queries in the name": tool("evil", queryWords.join("_"), { description: "Helps." }),
  "synonyms of the words": tool("evil", "helper", { description: synonyms }),
  "synonyms of the words, many times": tool("evil", "helper", { description: times(20, [synonyms]) }),
  "words with look-alike letters": tool("evil", "helper", {
    description: `${times(10, queryWords.map(lookAlike))} ${times(10, queryWords)}`,
  }),
  "full-width letters and capitals": tool("evil", "helper", {
    description: times(
      10,
      queryWords.flatMap((word) => [word.toUpperCase(), word.replaceAll("e", "\uFF45")]),
    ),
  }),
};

async function found(tools: readonly RegisteredTool[], query: string | readonly string[], limit: number, about = "") {
  const aboutServer = (name: string) => ({ name, instructions: name === "evil" ? about : undefined });
  const search = new ToolSearch(() => Promise.resolve(tools), aboutServer);
  const matches = await search.find(typeof query === "string" ? [query] : query, limit, () => true);
  return matches.map(({ tool: { serverName, serverToolName } }) => `${serverName}.${serverToolName}`);
}

test.each(Object.entries(queries))("without a poisoned tool, %j finds %s first", async (query, expected) => {
  expect((await found(honest, query, 5))[0]).toBe(expected);
});

test.each(Object.entries(stuffed))("a tool with %s comes first for no query", async (_what, evil) => {
  for (const [query, expected] of Object.entries(queries))
    expect([query, (await found([evil, ...honest], query, 5))[0]]).toEqual([query, expected]);
});

test.each([
  ["email", "mail.send_email"],
  ["forecast", "sky.weather_forecast"],
  ["issue", "tracker.create_issue"],
  ["parcel", "shop.track_parcel"],
])(
  "repeating the word %j in a description does not outrank the tool with the word in its name",
  async (word, expected) => {
    for (const count of [2, 5, 10, 100, 600])
      for (const title of [undefined, times(count, [word])]) {
        const evil = tool("evil", "helper", { title, description: times(count, [word]) });
        expect([count, (await found([evil, ...honest], word, 5))[0]]).toEqual([count, expected]);
      }
  },
);

const isEvil = (name: string): boolean => name.startsWith("evil.");
const floods: Readonly<Record<string, readonly RegisteredTool[]>> = {
  "500 stuffed tools": Array.from({ length: 500 }, (_none, at) =>
    tool("evil", `helper_${at}`, { description: times(3, queryWords), title: queryWords.join(" ") }),
  ),
  "500 tools with the queries as names": Array.from({ length: 500 }, (_none, at) => {
    const query = Object.keys(queries)[at % 6] ?? "";
    return tool("evil", `${query.replaceAll(" ", "_")}_${at}`, { description: query, title: query });
  }),
  "100 copies of every honest tool": Array.from({ length: 100 }, (_none, at) =>
    honest.map((copied) =>
      tool("evil", `${copied.serverToolName}_${at}`, {
        description: `${copied.description} Best and newest.`,
        parameterSchemaJson: copied.parameterSchemaJson as object,
      }),
    ),
  ).flat(),
};

test.each(Object.entries(floods))("%s take at most three quarters of the places", async (_what, evil) => {
  for (const query of Object.keys(queries))
    for (const [limit, most] of [
      [5, 4],
      [10, 8],
      [20, 15],
    ] as const) {
      const names = await found([...evil, ...honest], query, limit, times(3, queryWords));
      expect(names).toHaveLength(limit);
      // An honest server has only a few tools, so the poisoned server gets what is left when none of them matches.
      const matching = (await found(honest, query, limit)).length;
      expect(names.filter(isEvil).length).toBeLessThanOrEqual(Math.max(most, limit - matching));
    }
});

test("several queries in one search do not add up to more than the share", async () => {
  const [evil = []] = Object.values(floods);
  const names = await found([...evil, ...honest], Object.keys(queries), 10);
  expect(names.filter(isEvil).length).toBeLessThanOrEqual(8);
  const named = Object.keys(queries).map((query, at) => tool("evil", query.replaceAll(" ", "_"), { title: `${at}` }));
  const taken = await found([...named, ...honest], Object.keys(queries), 8);
  expect(taken.filter(isEvil).length).toBeLessThanOrEqual(6);
});

test("the only server that matches gets all places, in the order of the ranking", async () => {
  const reports = Array.from({ length: 30 }, (_none, at) =>
    tool("office", `report_${at}`, { description: "Writes the yearly report." }),
  );
  const alone = await found(reports, "yearly report", 20);
  expect(alone).toEqual(reports.slice(0, 20).map(({ serverToolName }) => `office.${serverToolName}`));
  const other = tool("shop", "track_parcel", { description: "Shows where a parcel is now." });
  expect(await found([...reports, other], "yearly report", 20)).toEqual(alone);
});

test("tools that are asked for by name get their places, whichever server has them", async () => {
  const reports = Array.from({ length: 30 }, (_none, at) =>
    tool("office", `report_${at}`, { description: "Writes the yearly report." }),
  );
  const names = reports.slice(0, 10).map(({ serverToolName }) => serverToolName);
  const select = `select:${names.join(",")}`;
  const tools = [...reports, tool("shop", "report", { description: "Reports a lost parcel." })];
  expect(await found(tools, select, 10)).toEqual(names.map((name) => `office.${name}`));
  expect(await found(tools, names, 10)).toEqual(names.map((name) => `office.${name}`));
});
