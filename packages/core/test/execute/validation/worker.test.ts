import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import type { Validation } from "../../../src/execute/validation/validation.ts";
import { createValidator, type Validator, type ValidatorOptions } from "../../../src/execute/validation/validator.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { doubling, nested, twiceRecursive, unions } from "../../support/schema-bombs.ts";

const run = promisify(execFile);
const bomb = doubling(40);
const valid = { issues: [], warnings: [] };
/** Each of the forty checks finds an issue in each number. */
const texts = { items: { allOf: Array.from({ length: 40 }, () => ({ type: "string" })) } };
const numbers = Array.from({ length: 30_000 }, () => 1);
const outOfMemory = { issues: [], warnings: ["not validated: the validation needed too much memory"] };
/** Recursive, so that it is checked in a thread. */
const tree: JsonObject = { type: "object", required: ["name"], properties: { children: { items: { $ref: "#" } } } };

/** Always a promise, also for a validation that is there at once. */
async function validated(validator: Validator, schema: JsonObject, value: unknown): Promise<Validation> {
  return validator.validate(schema, value);
}

async function withValidator(options: ValidatorOptions, use: (validator: Validator) => Promise<void>): Promise<void> {
  const validator = createValidator(options);
  try {
    await use(validator);
  } finally {
    await validator.close();
  }
}

/** Both threads have started when both have answered; from then on only the clock of the test can end one. */
async function startThreads(validator: Validator): Promise<void> {
  await Promise.all([validator.validate(tree, { name: "a" }), validator.validate(tree, { name: "b" })]);
}

describe("a validation without a bound", () => {
  test.each<[string, JsonObject, unknown]>([
    ["references that double", bomb, "x"],
    ["unions of unions", unions(12, 20), 99],
    ["recursion over a deep value", twiceRecursive, nested(60)],
    ["items that are all compared", { uniqueItems: true }, Array.from({ length: 30_000 }, (_, at) => ({ at }))],
  ])("is ended at the limit, and later ones come first: %s", async (_, schema, value) => {
    const clock = manualClock();
    await withValidator({ clock, timeLimit: 1000 }, async (validator) => {
      await startThreads(validator);
      const finished: string[] = [];
      const slow = validated(validator, schema, value).finally(() => finished.push("slow"));
      const later = [validated(validator, tree, { name: "a" }), validated(validator, { type: "object" }, {})];
      expect(await Promise.all(later)).toEqual([valid, valid]);
      finished.push("later");
      await clock.pass(1000);
      expect(await slow).toEqual({ issues: [], warnings: ["not validated: the validation took longer than 1000 ms"] });
      expect(finished).toEqual(["later", "slow"]);
    });
  });

  test("is ended in real time as well", async () => {
    await withValidator({ threads: 1, timeLimit: 50 }, async (validator) => {
      const { warnings } = await validator.validate(bomb, "x");
      expect(warnings).toEqual(["not validated: the validation took longer than 50 ms"]);
    });
  });

  test("takes those with it that wait with the same schema, and no others", async () => {
    const clock = manualClock();
    await withValidator({ clock, threads: 1, timeLimit: 1000 }, async (validator) => {
      await startThreads(validator);
      const same = Array.from({ length: 20 }, () => validated(validator, bomb, "x"));
      const other = validator.validate(tree, { name: "a" });
      await clock.pass(1000);
      const ended = { issues: [], warnings: ["not validated: the validation took longer than 1000 ms"] };
      expect(await Promise.all(same)).toEqual(same.map(() => ended));
      expect(await other).toEqual(valid);
    });
  });

  test("is ended when it needs too much memory", async () => {
    await withValidator({ memoryMegabytes: 24, timeLimit: 600_000 }, async (validator) => {
      expect(await validator.validate(texts, numbers)).toEqual(outOfMemory);
      expect(await validator.validate(tree, { name: "a" })).toEqual(valid);
    });
  });

  test("is called off by its signal, and its thread is free for others", async () => {
    await withValidator({ threads: 1, timeLimit: 600_000 }, async (validator) => {
      const [running, waiting, never] = [new AbortController(), new AbortController(), new AbortController()];
      const first = validator.validate(bomb, "x", running.signal);
      const second = validator.validate(bomb, "y", waiting.signal);
      const third = validator.validate(tree, { name: "a" }, never.signal);
      waiting.abort(new Error("second"));
      await expect(second).rejects.toThrow("second");
      running.abort(new Error("first"));
      await expect(first).rejects.toThrow("first");
      expect(await third).toEqual(valid);
      await expect(validator.validate(tree, {}, running.signal)).rejects.toThrow("first");
      await expect(validator.validate({}, {}, running.signal)).rejects.toThrow("first");
    });
  });

  test("is not validated when its thread cannot start", async () => {
    await withValidator({ worker: new URL("./nothing-here.js", import.meta.url) }, async (validator) => {
      const { warnings } = await validator.validate(tree, {});
      expect(warnings).toEqual([
        expect.stringMatching(/^not validated: the validation thread failed \(.*nothing-here/),
      ]);
      expect(await validator.validate({ type: "object" }, {})).toEqual(valid);
    });
  });
});

test("those that wait for a thread are validated in their order", async () => {
  await withValidator({ threads: 1, timeLimit: 60_000 }, async (validator) => {
    const finished: string[] = [];
    const names = ["a", "b", "c", "d"];
    const validate = (name: string) => validated(validator, tree, { name }).then(() => finished.push(name));
    await Promise.all(names.map(validate));
    expect(finished).toEqual(names);
  });
});

test("a hundred at a time are all answered, each with its own", async () => {
  await withValidator({ timeLimit: 60_000 }, async (validator) => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        validated(validator, { ...tree, required: [`name${at % 10}`] }, { [`name${at % 7}`]: at }),
      ),
    );
    expect(answers.map(({ issues }) => issues.map(({ path }) => path))).toEqual(
      Array.from({ length: 100 }, (_, at) => (at % 10 === at % 7 ? [] : [`/name${at % 10}`])),
    );
  });
});

test("a schema of a megabyte is compiled beside the main thread", async () => {
  await withValidator({ timeLimit: 60_000 }, async (validator) => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`p${at}`, { type: "string", description: "d".repeat(4500) }]),
    );
    const { issues, warnings } = await validator.validate({ properties }, { p1: 1, p199: 2 });
    expect(issues.map(({ path, message }) => `${path} ${message}`)).toEqual([
      "/p1 must be a string",
      "/p199 must be a string",
    ]);
    expect(warnings).toEqual([]);
  });
});

test.each<[string, JsonObject, unknown, string]>([
  ["a longer schema", { description: "d".repeat(2_000_000) }, 1, "its schema is too large"],
  ["a schema of more parts", { enum: Array.from({ length: 20_000 }, (_, at) => at) }, 1, "its schema is too large"],
  ["a value of many parts", tree, Array.from({ length: 300_000 }, () => 1), "the value is too large"],
  ["a value of long texts", tree, "x".repeat(5_000_000), "the value is too large"],
])("%s is not handed to a thread", async (_, schema, value, reason) => {
  await withValidator({ worker: new URL("file:///nothing") }, async (validator) => {
    expect(await validator.validate(schema, value)).toEqual({ issues: [], warnings: [`not validated: ${reason}`] });
  });
});

test("a thread that ends by itself leaves no validation waiting", async () => {
  const worker = new URL("data:text/javascript,process.exit(0)");
  await withValidator({ worker, clock: manualClock() }, async (validator) => {
    const ended = { issues: [], warnings: ["not validated: the validation thread ended"] };
    expect(await validator.validate(tree, { name: "a" })).toEqual(ended);
  });
});

describe("where a validation is done", () => {
  /** Of exactly that many characters. */
  const schemaOf = (length: number): JsonObject => ({ description: "d".repeat(length - '{"description":""}'.length) });
  const list = (length: number): unknown[] => Array.from({ length }, () => 1);
  const elsewhere = [expect.stringMatching(/^not validated: the validation thread failed/)];
  test.each<[string, JsonObject, unknown, readonly unknown[]]>([
    ["a schema that is not large", schemaOf(65_536), 1, []],
    ["one that is a little larger", schemaOf(65_537), 1, elsewhere],
    ["a schema as large as it may be", { description: "d".repeat(1_048_576 - "description".length) }, 1, elsewhere],
    [
      "one that is a little larger",
      { description: "d".repeat(1_048_577 - "description".length) },
      1,
      ["not validated: its schema is too large"],
    ],
    ["a value of as many parts as may be", tree, list(249_999), elsewhere],
    ["one more", tree, list(250_000), ["not validated: the value is too large"]],
    ["texts as long as they may be", tree, "x".repeat(4_194_304), elsewhere],
    ["one character more", tree, "x".repeat(4_194_305), ["not validated: the value is too large"]],
  ])("%s", async (_, schema, value, warnings) => {
    await withValidator({ worker: new URL("file:///nothing") }, async (validator) => {
      expect(await validator.validate(schema, value)).toEqual({ issues: [], warnings });
    });
  });

  test("what JSON cannot say is not handed to a thread", async () => {
    await withValidator({ worker: new URL("file:///nothing") }, async (validator) => {
      expect((await validator.validate(tree, { a: 1n })).warnings).toEqual([
        "not validated: the value is not JSON, or is nested too deeply",
      ]);
      expect((await validator.validate({ default: 1n }, 1)).warnings).toEqual([
        "not validated: its schema is not JSON, or is nested too deeply",
      ]);
    });
  });
});

test("a large value has one issue, not a million", async () => {
  await withValidator({ timeLimit: 60_000 }, async (validator) => {
    const value = Array.from({ length: 200_000 }, () => "x");
    const { issues } = await validator.validate({ items: { type: "number" } }, value);
    expect(issues.map(({ path }) => path)).toEqual(["/0"]);
  });
});

test("closing answers every waiting caller, and nothing is validated after it", async () => {
  const validator = createValidator({ threads: 1, timeLimit: 600_000 });
  const waiting = [validated(validator, bomb, "x"), validated(validator, tree, {})];
  await validator.close();
  const closed = { issues: [], warnings: ["not validated: the host is closed"] };
  expect(await Promise.all(waiting)).toEqual([closed, closed]);
  expect(await validator.validate({ type: "string" }, 1)).toEqual(closed);
});

const module = new URL("../../../build/execute/validation/validator.js", import.meta.url).href;

test("the memory limit of a thread also counts in a process that was started with a larger heap", async () => {
  const program = `
    import { createValidator } from ${JSON.stringify(module)};
    const validator = createValidator({ memoryMegabytes: 24, timeLimit: 600_000 });
    const numbers = Array.from({ length: ${numbers.length} }, () => 1);
    console.log(JSON.stringify(await validator.validate(${JSON.stringify(texts)}, numbers)));`;
  const { stdout } = await run(process.execPath, [
    "--max-old-space-size=2000",
    "--input-type=module",
    "--eval",
    program,
  ]);
  expect(JSON.parse(stdout)).toEqual(outOfMemory);
});

describe("a process that used a thread ends by itself", () => {
  test.each([
    ["after close", "await validator.close();"],
    ["without close", ""],
  ])("%s", async (_, end) => {
    const program = `
      import { createValidator } from ${JSON.stringify(module)};
      const validator = createValidator({ timeLimit: 600_000 });
      console.log(JSON.stringify(await validator.validate(${JSON.stringify(tree)}, { name: "a" })));
      ${end}`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program]);
    expect(JSON.parse(stdout)).toEqual(valid);
  });
});
