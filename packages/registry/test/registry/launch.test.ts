import { HostError } from "@fairlead/core/errors";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choicesOf, planEntry, questionsOf, type ServerChoice } from "../../src/registry/launch.ts";
import { isRefused, readServerJson } from "../../src/registry/server-json.ts";

const stdio = { type: "stdio" };

function choices(description: object): readonly ServerChoice[] {
  const server = readServerJson({ name: "io.github.acme/weather", version: "1.2.0", ...description });
  if (isRefused(server)) throw new Error(server.why);
  return choicesOf(server);
}

function only(description: object): ServerChoice {
  const [first] = choices(description);
  if (first === undefined) throw new Error("the server has no choice");
  return first;
}

function ofPackage(program: object): ServerChoice {
  return only({ packages: [{ transport: stdio, version: "1.2.0", ...program }] });
}

function plan(choice: ServerChoice, answers: Readonly<Record<string, string | readonly string[]>> = {}) {
  const lists = Object.entries(answers).map(([name, value]) => [name, [value].flat()] as const);
  return planEntry(choice, new Map(lists), (input) => `WEATHER_${input}`);
}

const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "it succeeded";
  } catch (error) {
    return error instanceof HostError ? error.code : String(error);
  }
};

describe("an entry of a package", () => {
  const args = [
    { type: "named", name: "--units", choices: ["metric", "imperial"], default: "metric" },
    { type: "named", name: "--verbose" },
    { type: "positional", valueHint: "folder", format: "filepath", isRequired: true, isRepeated: true },
  ];
  const env = [
    { name: "WEATHER_KEY", isRequired: true, isSecret: true },
    { name: "REGION", description: "left out without a value" },
    { name: "MODE", value: "mcp" },
  ];
  const answers = { folder: ["/a", "/b c"], WEATHER_KEY: "s3cret" };

  it.each([
    [
      "npm",
      {
        registryType: "npm",
        identifier: "@acme/weather",
        runtimeArguments: [{ type: "named", name: "--prefer-online" }],
      },
      ["npx", "-y", "--prefer-online", "@acme/weather@1.2.0", "--units=metric", "--verbose", "/a", "/b c"],
    ],
    [
      "pypi",
      {
        registryType: "pypi",
        identifier: "acme-weather",
        runtimeArguments: [{ type: "named", name: "--python", value: "3.12" }],
      },
      ["uvx", "--python=3.12", "acme-weather@1.2.0", "--units=metric", "--verbose", "/a", "/b c"],
    ],
    [
      "nuget",
      { registryType: "nuget", identifier: "Acme.Weather" },
      ["dnx", "Acme.Weather@1.2.0", "--yes", "--", "--units=metric", "--verbose", "/a", "/b c"],
    ],
    [
      "oci",
      {
        registryType: "oci",
        identifier: "ghcr.io/acme/weather:1.2.0",
        runtimeArguments: [
          { type: "positional", value: "run" },
          {
            type: "named",
            name: "--mount",
            value: "type=bind,src={source},dst=/data",
            variables: { source: { format: "filepath", isRequired: true } },
          },
        ],
      },
      [
        "docker run -i --rm -e WEATHER_KEY -e MODE --mount=type=bind,src=/src,dst=/data".split(" "),
        ["ghcr.io/acme/weather:1.2.0", "--units=metric", "--verbose", "/a", "/b c"],
      ].flat(),
    ],
  ])("of the kind %s is a list of arguments", (kind, program, expected) => {
    const choice = ofPackage({ ...program, packageArguments: args, environmentVariables: env, runtimeHint: "sh" });
    const given = kind === "oci" ? { ...answers, source: "/src" } : answers;

    const { entry, secrets, inputs } = plan(choice, given);

    expect([entry["command"], ...(entry["args"] as string[])]).toEqual(expected);
    expect(entry["env"]).toEqual({ WEATHER_KEY: "${secret:WEATHER_WEATHER_KEY}", MODE: "mcp" });
    expect(secrets).toEqual([{ name: "WEATHER_WEATHER_KEY", value: "s3cret" }]);
    expect(inputs).toMatchObject({ folder: "/a\n/b c" });
    expect(JSON.stringify(inputs)).not.toContain("s3cret");
  });

  it("asks for what the publisher leaves open, and names what is missing", () => {
    const choice = ofPackage({
      registryType: "npm",
      identifier: "weather",
      packageArguments: args,
      environmentVariables: env,
    });

    expect(
      questionsOf(choice).map(({ name, kind, isRequired, isSecret }) => [name, kind, isRequired, isSecret]),
    ).toEqual([
      ["units", "choice", false, false],
      ["folder", "file", true, false],
      ["WEATHER_KEY", "text", true, true],
      ["REGION", "text", false, false],
    ]);
    expect(() => plan(choice)).toThrow("missing inputs: folder, WEATHER_KEY");
    expect(() => plan(choice, { ...answers, units: "kelvin" })).toThrow(/"units" is none of metric, imperial/);
    expect(() => plan(choice, { ...answers, colour: "red" })).toThrow(/no input "colour"/);
    expect(codeOf(() => plan(choice, { ...answers, REGION: "a\r\nX: y" }))).toBe("usage");
  });

  it("keeps a secret that is stored already", () => {
    const choice = ofPackage({ registryType: "npm", identifier: "weather", environmentVariables: env });
    const { entry, secrets } = plan(choice, { WEATHER_KEY: "${secret:MINE}" });
    expect([entry["env"], secrets]).toEqual([{ WEATHER_KEY: "${secret:MINE}", MODE: "mcp" }, []]);
  });

  it("gives two inputs of the same name two names", () => {
    const choice = ofPackage({
      registryType: "npm",
      identifier: "weather",
      packageArguments: [
        { type: "named", name: "--path", isRequired: true },
        { type: "positional", valueHint: "path", isRequired: true },
      ],
    });
    expect(plan(choice, { path: "/a", "path-2": "/b" }).entry["args"]).toEqual([
      "-y",
      "weather@1.2.0",
      "--path=/a",
      "/b",
    ]);
  });

  it.each([
    ["a name that is an option", { registryType: "npm", identifier: "--call" }],
    ["a name that is an address", { registryType: "npm", identifier: "https://evil.example/x.tgz" }],
    ["a name that is a repository", { registryType: "npm", identifier: "acme/weather" }],
    ["a name that is a path", { registryType: "npm", identifier: "../weather" }],
    ["a version range", { registryType: "npm", identifier: "weather", version: "^1.0.0" }],
    ["a tag", { registryType: "npm", identifier: "weather", version: "latest" }],
    ["no version", { registryType: "npm", identifier: "weather", version: undefined }],
    ["a Python package from an address", { registryType: "pypi", identifier: "x@https://evil.example/x.whl" }],
    ["another npm registry", { registryType: "npm", identifier: "weather", registryBaseUrl: "https://evil.example" }],
    ["an image without a tag", { registryType: "oci", identifier: "acme/weather", version: undefined }],
    ["an image that moves", { registryType: "oci", identifier: "acme/weather:latest" }],
    ["an image that is an option", { registryType: "oci", identifier: "--privileged" }],
    [
      "an option that runs another program",
      {
        registryType: "npm",
        identifier: "weather",
        runtimeArguments: [{ type: "named", name: "--package", value: "evil" }],
      },
    ],
    [
      "an option that opens the container",
      {
        registryType: "oci",
        identifier: "acme/weather:1",
        runtimeArguments: [{ type: "named", name: "--privileged" }],
      },
    ],
    [
      "a value where an option is expected",
      {
        registryType: "oci",
        identifier: "acme/weather:1",
        runtimeArguments: [{ type: "positional", value: "evil/image" }],
      },
    ],
    [
      "a variable that loads a program",
      {
        registryType: "npm",
        identifier: "weather",
        environmentVariables: [{ name: "NODE_OPTIONS", value: "--require /tmp/x" }],
      },
    ],
    [
      "a variable that names a registry",
      {
        registryType: "npm",
        identifier: "weather",
        environmentVariables: [{ name: "npm_config_registry", value: "https://evil.example" }],
      },
    ],
    [
      "a variable with a strange name",
      { registryType: "npm", identifier: "weather", environmentVariables: [{ name: "A=B", value: "x" }] },
    ],
    [
      "a package that starts an HTTP server",
      { registryType: "npm", identifier: "weather", transport: { type: "sse", url: "http://127.0.0.1:1/sse" } },
    ],
    [
      "a bundle at an address without https",
      { registryType: "mcpb", identifier: "http://weather.example/w.mcpb", fileSha256: "0".repeat(64) },
    ],
    ["a bundle without a digest", { registryType: "mcpb", identifier: "https://weather.example/w.mcpb" }],
    ["an unknown kind", { registryType: "cargo", identifier: "weather" }],
  ])("is refused: %s", (_, program) => {
    const choice = ofPackage(program);
    expect(choice.unusable).toBeTypeOf("string");
    expect(codeOf(() => plan(choice))).toBe("usage");
  });
});

describe("an entry of a remote", () => {
  it("has the address and the headers, with secrets only named", () => {
    const choice = only({
      remotes: [
        {
          type: "streamable-http",
          url: "https://{tenant}.weather.example/mcp",
          variables: { tenant: { description: "Your tenant" } },
          headers: [
            {
              name: "Authorization",
              value: "Bearer {token}",
              isSecret: true,
              variables: { token: { isSecret: true, isRequired: true } },
            },
            { name: "X-Units", default: "metric" },
          ],
        },
      ],
    });

    const { entry, secrets } = plan(choice, { tenant: "acme", token: "t0ken" });

    expect(entry).toEqual({
      httpUrl: "https://acme.weather.example/mcp",
      headers: { Authorization: "Bearer ${secret:WEATHER_token}", "X-Units": "metric" },
    });
    expect(secrets).toEqual([{ name: "WEATHER_token", value: "t0ken" }]);
    expect(() => plan(choice, { token: "t0ken" })).toThrow("missing inputs: tenant");
    expect(codeOf(() => plan(choice, { token: "t", tenant: "me:pw@evil.example/" }))).toBe("usage");
  });

  it("comes first with streamable HTTP, and last with SSE", () => {
    const all = choices({
      remotes: [
        { type: "sse", url: "https://weather.example/sse" },
        { type: "streamable-http", url: "https://weather.example/mcp" },
      ],
      packages: [{ registryType: "npm", identifier: "weather", version: "1.2.0", transport: stdio }],
    });
    expect(all.map(({ label, runs }) => [label, runs])).toEqual([
      ["https://weather.example/mcp", "remote"],
      ["weather 1.2.0", "program"],
      ["https://weather.example/sse", "remote"],
    ]);
    expect(plan(all.at(-1) as ServerChoice).entry).toEqual({ url: "https://weather.example/sse", type: "sse" });
  });

  it.each(["http://weather.example/mcp", "file:///etc/passwd", "https://me:pw@weather.example/mcp", "stdio"])(
    "is refused: %s",
    (url) => {
      expect(only({ remotes: [{ type: "streamable-http", url }] }).unusable).toBeTypeOf("string");
    },
  );

  it("is refused if it sets a header of the protocol, or begins another", () => {
    for (const name of ["Mcp-Session-Id", "Host", "X-A\r\nX-B"])
      expect(
        only({ remotes: [{ type: "sse", url: "https://w.example/", headers: [{ name, value: "x" }] }] }).unusable,
      ).toBeTypeOf("string");
  });
});

// Any package: what the publisher and the user wrote arrives as it is, in its place, and nothing expands.

const anyText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.constantFrom(
    "$HOME",
    "${secret:KEY}",
    "$$",
    "a b",
    "; rm -rf /",
    "`id`",
    "$(id)",
    "'\"",
    "--flag",
    "{",
    "}",
    "{x",
  ),
);
const answer = anyText.filter((text) => !/[\0\r\n]/.test(text));
const fixed = anyText.filter((text) => !text.includes("\0") && !/\{[^{}]+\}/.test(text));
const variable = fc.stringMatching(/^[a-z]{1,6}$/);

interface Written {
  readonly argument: Record<string, unknown>;
  /** What the program must get, by the answers. */
  readonly expected: (name: string) => readonly string[];
  readonly answers: (name: string) => Record<string, readonly string[]>;
}

const written: fc.Arbitrary<Written> = fc.oneof(
  fixed.map((value) => ({ argument: { value }, expected: () => [value], answers: () => ({}) })),
  fixed.map((value) => ({ argument: { default: value }, expected: () => [value], answers: () => ({}) })),
  fc.constant({ argument: { description: "optional" }, expected: () => [], answers: () => ({}) }),
  fc.array(answer, { minLength: 1, maxLength: 3 }).map((values) => ({
    argument: { isRequired: true, isRepeated: values.length > 1 },
    expected: () => values,
    answers: (name: string) => ({ [name]: values }),
  })),
  fc.uniqueArray(answer, { minLength: 1, maxLength: 4 }).map((values) => ({
    argument: { isRequired: true, choices: values },
    expected: () => values.slice(-1),
    answers: (name: string) => ({ [name]: values.slice(-1) }),
  })),
  fc.tuple(fixed, variable, answer, fixed).map(([before, name, value, behind]) => ({
    argument: { value: `${before}{${name}}${behind}`, variables: { [name]: { isRequired: true } } },
    expected: () => [`${before}${value}${behind}`],
    answers: () => ({ [`variable:${name}`]: [value] }),
  })),
);

const chance = seed();

it(`keeps every word of the publisher and the user as it is (seed ${chance})`, () => {
  const anyArgument = fc.tuple(fc.boolean(), written);
  fc.assert(
    fc.property(
      fc.array(anyArgument, { maxLength: 6 }),
      fc.constantFrom("npm", "pypi", "nuget", "oci"),
      (all, kind) => {
        const args = all.map(([isNamed, { argument }], at) =>
          isNamed
            ? { type: "named", name: `--named-${at}`, description: "x", ...argument }
            : { type: "positional", valueHint: `place-${at}`, description: "x", ...argument },
        );
        const choice = ofPackage({
          registryType: kind,
          identifier: kind === "oci" ? "acme/weather:1.2.0" : "weather",
          packageArguments: args,
        });
        // Variables of the same name are told apart by a number, in the order of the arguments.
        const counts = new Map<string, number>();
        const answers = Object.fromEntries(
          all.flatMap(([isNamed, one], at) =>
            Object.entries(one.answers(isNamed ? `named-${at}` : `place-${at}`)).map(([name, values]) => {
              if (!name.startsWith("variable:")) return [name, values];
              const plain = name.slice("variable:".length);
              const count = (counts.get(plain) ?? 0) + 1;
              counts.set(plain, count);
              return [count === 1 ? plain : `${plain}-${count}`, values];
            }),
          ),
        );
        const expected = all.flatMap(([isNamed, one], at) =>
          one.expected("").map((value) => (isNamed ? `--named-${at}=${value}` : value)),
        );

        const found = plan(choice, answers).entry["args"] as readonly string[];
        const behind = found.slice(found.findIndex((word) => /^(?:acme\/)?weather[@:]1\.2\.0$/.test(word)) + 1);
        const own = kind === "nuget" ? behind.slice(expected.length > 0 ? 2 : 1) : behind;

        expect(own.map((word) => word.replaceAll("$$", "$"))).toEqual(expected);
        expect(own.every((word) => /^(?:[^$]|\$\$)*$/.test(word))).toBe(true);
      },
    ),
    { seed: chance, numRuns: scaled(5_000) },
  );
});
