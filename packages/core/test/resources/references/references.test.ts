import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { scaled, seed, temporaryFolder } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFileFinder } from "../../../src/resources/references/local-file.ts";
import {
  type Piece,
  type ReferenceSource,
  readReferences,
  resolveReferences,
  serversNamedIn,
} from "../../../src/resources/references/references.ts";
import { writeReference } from "../../../src/resources/references/resource-reference.ts";
import { ResourceRegistry } from "../../../src/server/registries.ts";

type Offers = Readonly<Record<string, { readonly uris?: readonly string[]; readonly templates?: readonly string[] }>>;

function sourceOf(offers: Offers, more: Partial<ReferenceSource> = {}): ReferenceSource {
  const resources = new ResourceRegistry();
  for (const [server, { uris = [], templates = [] }] of Object.entries(offers))
    resources.replaceServer(server, {
      resources: uris.map((uri) => ({ uri, name: uri })),
      resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
    });
  return { servers: Object.keys(offers), resources, ...more };
}

async function only(text: string, source: ReferenceSource): Promise<Piece> {
  const [piece, ...others] = await resolveReferences(text, source);
  expect(others).toEqual([]);
  if (piece === undefined) throw new Error("nothing");
  return piece;
}

async function outcome(text: string, source: ReferenceSource): Promise<string> {
  const piece = await only(text, source);
  if (piece.kind === "resource") return `${piece.server} ${piece.uri}`;
  return piece.kind === "unresolved" ? piece.error.message : piece.kind;
}

const source = sourceOf({
  demo: { uris: ["demo://about", "demo://picture"], templates: ["demo://knots/{name}"] },
  docs: { uris: ["file:///readme.md", "file:///guide.md", "a://same", "b://same", "urn:isbn:1"] },
  disk: { uris: ["file:///guide.md"], templates: ["file:///{+path}", "{broken"] },
  logs: { templates: ["log:///{day}", "old://{day}"] },
  "my server": { uris: ["note://a b"] },
  "a:b": { uris: ["x://1"] },
  greedy: { templates: ["{+anything}"] },
  quiet: {},
});

describe("a reference finds its resource by", () => {
  test.each([
    ["a URI of the server that its scheme names", "@demo://about", "demo demo://about"],
    ["what stands behind :// on that server", "@docs:///readme.md", "docs file:///readme.md"],
    ["a URI that one server lists, whatever templates give", "@file:///readme.md", "docs file:///readme.md"],
    ["a URI without slashes", "@urn:isbn:1", "docs urn:isbn:1"],
    ["a server and a URI", "@disk:file:///guide.md", "disk file:///guide.md"],
    ["a server and what stands behind ://", "@demo:about", "demo demo://about"],
    ["a template", "@demo://knots/bowline", "demo demo://knots/bowline"],
    ["a template of whichever server has it", "@file:///src/a.ts", "disk file:///src/a.ts"],
    ["what stands behind the :// of a template", "@logs:///monday", "logs log:///monday"],
    ["a server whose template takes anything, by its name", "@greedy:what:ever", "greedy what:ever"],
    ["a server with a blank in its name", '@"my server:note://a b"', "my server note://a b"],
    ["a server with a colon in its name", "@a:b:x://1", "a:b x://1"],
  ])("%s", async (_, text, expected) => {
    expect(await outcome(text, source)).toBe(expected);
  });
});

describe("a reference that finds nothing says so:", () => {
  test.each([
    ["one letter off", "@demo://abuot", '"demo" has no resource "demo://abuot"; did you mean @demo://about?'],
    [
      "another scheme of a server",
      "@docs:http:///readme.md",
      '"docs" has no resource "http:///readme.md"; did you mean @docs:file:///readme.md?',
    ],
    [
      "a server that does not exist",
      "@dmeo://picture",
      'no server has a resource "dmeo://picture"; did you mean @demo://picture?',
    ],
    ["nothing like it", "@https://example.com/", 'no server has a resource "https://example.com/"'],
    ["a server that has said nothing yet", "@quiet://a", 'Fairlead knows no resources of "quiet"'],
    [
      "two on one server",
      "@docs://same",
      '"docs://same" is ambiguous, it matches 2 resources: write @docs:a://same or @docs:b://same',
    ],
    [
      "two on two servers",
      "@file:///guide.md",
      '"file:///guide.md" is ambiguous, it matches 2 resources: write @docs:file:///guide.md or @disk:file:///guide.md',
    ],
    [
      "a way out",
      "@disk:file:///a/../../etc/passwd",
      '"file:///a/../../etc/passwd" was not requested: it contains ".."',
    ],
    ["an encoded way out", "@file:///%2e%2e/x", '"file:///%2e%2e/x" was not requested: it contains ".."'],
    ["a way out encoded twice", "@file:///%252e%252E/x", '"file:///%252e%252E/x" was not requested: it contains ".."'],
    ["a null byte", "@file:///a%00.txt", '"file:///a%00.txt" was not requested: it contains a control character'],
    ["a backslash", "@file:///a%5c..%5cb", '"file:///a%5c..%5cb" was not requested: it contains a backslash'],
    ["another machine", "@file:////host/share", '"file:////host/share" was not requested: it names another machine'],
    ["an overlong dot", "@file:///%c0%ae./x", '"file:///%c0%ae./x" was not requested: it contains invalid UTF-8'],
  ])("%s", async (_, text, expected) => {
    expect(await outcome(text, source)).toBe(expected);
  });
});

test.each(["@john", "@media:print", "@Component", "@scope/pkg", "@types/node", "@click.prevent=x"])(
  "%s is only text",
  async (text) => {
    await using folder = await temporaryFolder();
    expect(await only(text, { ...source, findFile: createFileFinder(folder.path) })).toEqual({ kind: "text", text });
  },
);

test("a server cannot take the name of a file, nor of anything that is no URI", async () => {
  await using folder = await temporaryFolder();
  await folder.write("README.md", "ours");
  const findFile = createFileFinder(folder.path);
  const hostile = sourceOf({ evil: { uris: ["README.md", "john"], templates: ["{+any}"] } }, { findFile });
  expect(await only("@README.md", hostile)).toMatchObject({ kind: "file", name: "README.md" });
  expect(await only("@john", hostile)).toEqual({ kind: "text", text: "@john" });
  expect(await only("@evil:README.md", hostile)).toMatchObject({ kind: "resource", uri: "README.md" });
});

test("the servers that a text names are known before anything is resolved", () => {
  const named = serversNamedIn("@demo://a, @docs:b and quiet: @logs @disk@x @nobody://c", source.servers);
  expect(named).toEqual(["demo", "docs"]);
});

test("a resource that is suggested is found as it was suggested", async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9 _-]{0,8}$/);
  const uri = fc.oneof(
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string({ minLength: 1 }).map((text) => `x://${text.replaceAll(/[\r\n]/g, "")}`),
  );
  await fc.assert(
    fc.asyncProperty(name, uri, async (server, written) => {
      const found = await only(writeReference(server, written), sourceOf({ [server]: { uris: [written] } }));
      expect(found).toMatchObject({ kind: "resource", server, uri: written });
    }),
    { numRuns: scaled(5000, 100), seed: seed() },
  );
});

describe("files of the workspace", () => {
  async function workspace() {
    const folder = await temporaryFolder();
    await folder.write("work/src/main.ts", "code");
    await folder.write("work/my notes.txt", "notes");
    await folder.write("secret.txt", "secret");
    await symlink(join(folder.path, "secret.txt"), join(folder.path, "work/innocent.txt"));
    await symlink(folder.path, join(folder.path, "work/up"));
    await symlink("src", join(folder.path, "work/link"));
    await symlink("loop", join(folder.path, "work/loop"));
    await mkdir(join(folder.path, "work-too"));
    const findFile = createFileFinder(join(folder.path, "work"));
    return { folder, source: { ...source, findFile }, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }

  test("are found, and folders, also through links that stay inside", async () => {
    await using at = await workspace();
    const work = join(at.folder.path, "work");
    const file = (name: string) => ({ kind: "file", path: join(work, name), name });
    for (const [text, expected] of [
      ["@src/main.ts", file("src/main.ts")],
      ["@./src/../src/main.ts", file("src/main.ts")],
      ['@"my notes.txt"', file("my notes.txt")],
      [String.raw`@my\ notes.txt`, file("my notes.txt")],
      ["@link/main.ts", file("src/main.ts")],
      [`@${work}/src/main.ts`, file("src/main.ts")],
      ["@src/", { kind: "folder", path: join(work, "src"), name: "src" }],
      ["@.", undefined],
      ["@./", { kind: "folder", path: work, name: "." }],
    ] as const)
      expect(await only(text, at.source)).toEqual(expected ? { text, ...expected } : { kind: "text", text });
  });

  test("outside are not found, however one tries", async () => {
    await using at = await workspace();
    const outside = [
      "@../secret.txt",
      "@innocent.txt",
      "@up/secret.txt",
      "@src/../../secret.txt",
      "@../work-too",
      "@/etc/passwd",
      "@~/.ssh/id_rsa",
    ];
    for (const text of outside)
      expect(await outcome(text, at.source)).toBe(`${text.slice(1)} is not read: it is outside the workspace`);
    expect(await outcome("@loop", at.source)).toBe(
      "loop is not read: it cannot be read: its symbolic links go in a circle",
    );
  });

  test.each([
    ["@src/mian.ts", 'there is no resource and no file "src/mian.ts"; did you mean @src/main.ts?'],
    ["@my\\ nodes.txt", 'there is no resource and no file "my nodes.txt"; did you mean @"my notes.txt"?'],
    ['@"nothing like it"', 'there is no resource and no file "nothing like it"'],
    ["@./nothing", 'there is no resource and no file "./nothing"'],
    ["@../../up/nothing", 'there is no resource and no file "../../up/nothing"'],
    ["@src/nothing", "text"],
    ["@/components/Button", "text"],
    ["@//host/share", "text"],
  ])("that do not exist: %s", async (text, expected) => {
    await using at = await workspace();
    expect(await outcome(text, at.source)).toBe(expected);
  });
});

test("after too many references the others are told instead of read", async () => {
  const text = Array.from({ length: 66 }, (_, number) => `@demo://knots/${number}`).join(" ");
  const pieces = await resolveReferences(text, source);
  const kinds = pieces.flatMap(({ kind }) => (kind === "text" ? [] : [kind]));
  expect(kinds).toEqual([...Array(64).fill("resource"), "unresolved", "unresolved"]);
  expect(pieces.at(-1)).toMatchObject({
    error: { message: "@demo://knots/65 is not read: a message may have at most 64 references" },
  });
});

test("a URI is requested from its own server only: no file is opened for it, and no connection made", async () => {
  await using folder = await temporaryFolder();
  await folder.write("etc/passwd", "ours");
  await folder.write("file:/etc/passwd", "ours");
  // Whatever this process does with files and sockets passes here.
  const touched: string[] = [];
  const watched = new AsyncLocalStorage<boolean>();
  const hook = createHook({
    init(_id, type) {
      if (watched.getStore() && /^(FSREQ|FILEHANDLE|TCP|PIPE|GETADDRINFO|UDP)/.test(type)) touched.push(type);
    },
  }).enable();
  const asked: string[] = [];
  const findFile = createFileFinder(folder.path);
  const owner = sourceOf(
    { srv: { uris: ["file:///listed"], templates: ["file:///{+path}", "http://{+rest}"] } },
    { findFile },
  );
  const part = fc.constantFrom(
    "..",
    "%2e%2e",
    "etc",
    "passwd",
    "a",
    "%00",
    "\\",
    "C:",
    "localhost",
    "%252e",
    "?x",
    "#y",
    "",
  );
  const scheme = fc.constantFrom(
    "file:",
    "FILE:",
    "http:",
    "https:",
    "ftp:",
    "srv:",
    "srv:file:",
    "data:",
    "file:///http:",
    "x-y:",
  );
  const slashes = fc.constantFrom("", "/", "//", "///", "////");
  // Without a last letter, dots and colons would end a sentence, and what is left be no URI.
  const uri = fc
    .tuple(scheme, slashes, fc.array(part, { minLength: 1, maxLength: 6 }), fc.constantFrom("@", '@"'))
    .map(([begin, bars, parts, mark]) => `${mark}${begin}${bars}${parts.join("/")}${mark === "@" ? "/z" : '"'}`);
  const readResource = async (server: string, wanted: string) => {
    asked.push(`${server} ${wanted}`);
    return { contents: [{ uri: wanted, text: "x" }], notes: [] };
  };
  await fc.assert(
    fc.asyncProperty(uri, async (text) => {
      await watched.run(true, async () => {
        await readReferences(await resolveReferences(text, owner), { readResource });
      });
    }),
    { numRuns: scaled(5000, 100), seed: seed(), examples: [["@file:///a/z"]] },
  );
  // The hook does see a file that is looked at.
  expect(touched).toEqual([]);
  await watched.run(true, () => findFile("etc/passwd"));
  hook.disable();
  expect(touched.length).toBeGreaterThan(0);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((line) => /(^|[/;?#&=])\.\.($|[/;?#&=])|\\|%00|%5c/i.test(line))).toEqual([]);
  expect(asked.filter((line) => !/^srv (file:\/\/\/|http:\/\/)/.test(line))).toEqual([]);
});

test("a template whose variables are not filled in is no resource", async () => {
  expect(await outcome('@"demo://knots/{name}"', source)).toBe(
    'demo://knots/{name} is a template of "demo": write values in place of its {…}',
  );
  expect(await outcome("@demo://knots/bowline", source)).toBe("demo demo://knots/bowline");
});

test.each(["“@demo://about”", "见：@demo://about", "（@demo://about）"])(
  "%s refers to it, whatever stands around it",
  async (text) => {
    const pieces = await resolveReferences(text, source);
    expect(pieces.find(({ kind }) => kind === "resource")).toMatchObject({ server: "demo", uri: "demo://about" });
  },
);

test("what looks like a file and is none is said to be none; what may be a name is left alone", async () => {
  await using folder = await temporaryFolder();
  const here = sourceOf({}, { findFile: createFileFinder(folder.path) });
  expect(await outcome("@src/nope.ts", here)).toBe('there is no resource and no file "src/nope.ts"');
  expect(await outcome("@types/node", here)).toBe("text");
});

test("what is referred to again counts once", async () => {
  const uris = Array.from({ length: 20 }, (_, number) => `x://${number}`);
  const text = [...Array.from({ length: 60 }, () => "@x://0"), ...uris.map((uri) => `@${uri}`)].join(" ");
  const pieces = await resolveReferences(text, sourceOf({ x: { uris } }));
  expect(pieces.filter(({ kind }) => kind === "unresolved")).toEqual([]);
});
