import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { checkArguments, checkOutput } from "../../src/execute/check-values.ts";
import type { Issue, Validation } from "../../src/execute/validation/validation.ts";

const { signal } = new AbortController();
const issue = (path: string): Issue => ({ path, message: "is odd", keyword: "type", params: {} });

/** A validator that gives these results in turn, and notes what it was asked. */
function validatorOf(...results: readonly (Validation | Promise<Validation>)[]) {
  const asked: unknown[] = [];
  const left = [...results];
  return {
    asked,
    validate(_schema: JsonObject, value: unknown): Validation | Promise<Validation> {
      asked.push(value);
      return left.shift() ?? { issues: [], warnings: [] };
    },
  };
}

describe("arguments", () => {
  const inputSchema = { type: "object", required: ["must"] };
  const check = (args: JsonObject, validator: ReturnType<typeof validatorOf>) =>
    checkArguments("my db", { name: "t", inputSchema }, args, validator, signal);

  test("that are valid are sent as they are, at once if the check answers at once", async () => {
    const args = { must: 1 };
    const valid = { issues: [], warnings: ["not validated: x"] };
    const now = check(args, validatorOf(valid));
    expect(now).toEqual({ args, warnings: valid.warnings });
    const later = check(args, validatorOf(Promise.resolve(valid)));
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toEqual({ args, warnings: valid.warnings });
  });

  test("that are optional and null are left out, each once, with what the second check says", async () => {
    const validator = validatorOf(
      { issues: [issue("/a"), issue("/b"), issue("/a")], warnings: ["first"] },
      { issues: [], warnings: ["second"] },
    );
    expect(await check({ must: 1, a: null, b: null, c: null }, validator)).toEqual({
      args: { must: 1, c: null },
      warnings: ["second", 'left out, because the tool does not accept null: "a", "b"'],
    });
    expect(validator.asked).toEqual([
      { must: 1, a: null, b: null, c: null },
      { must: 1, c: null },
    ]);
  });

  test.each<[string, JsonObject, readonly string[]]>([
    ["required and null", { must: null }, ["/must"]],
    ["optional and something else", { must: 1, a: 7 }, ["/a"]],
    ["null further in", { must: 1, a: { b: null } }, ["/a/b"]],
    ["missing", {}, ["/must"]],
    ["null beside another mistake", { must: 1, a: null, b: 7 }, ["/a", "/b"]],
  ])("that are %s are refused after one check", async (_, args, paths) => {
    const validator = validatorOf({ issues: paths.map(issue), warnings: [] });
    const wrong = paths.map((path) => `"${path.slice(1).replaceAll("/", ".")}" is odd`).join("; ");
    await expect(check(args, validator)).rejects.toMatchObject({
      code: "arguments_invalid",
      message: `my db.t has invalid arguments: ${wrong}`,
      serverName: "my db",
      next: "fairlead tools 'my db'",
    });
    expect(validator.asked).toHaveLength(1);
  });

  test("that are wrong also without their nulls are refused for what was wrong at first", async () => {
    const validator = validatorOf({ issues: [issue("/a")], warnings: [] }, { issues: [issue("")], warnings: [] });
    await expect(check({ must: 1, a: null }, validator)).rejects.toThrow('my db.t has invalid arguments: "a" is odd');
    expect(validator.asked).toHaveLength(2);
  });
});

describe("a result", () => {
  const outputSchema = { type: "object" };
  const structuredContent = { a: 1 };

  test("is not checked if nothing was promised, or if it is an error", async () => {
    const validator = validatorOf();
    expect(await checkOutput({ isError: false, structuredContent }, {}, validator)).toEqual([]);
    expect(await checkOutput({ isError: true, structuredContent }, { outputSchema }, validator)).toEqual([]);
    expect(validator.asked).toEqual([]);
  });

  test("is told with all warnings, and with what is wrong", async () => {
    const check = (...results: readonly Validation[]) =>
      checkOutput({ isError: false, structuredContent }, { outputSchema }, validatorOf(...results));
    expect(await check({ issues: [], warnings: ["w"] })).toEqual(["w"]);
    expect(await check({ issues: [issue(""), issue("/a")], warnings: ["w"] })).toEqual([
      "w",
      'the result does not match the tool\'s outputSchema: it is odd; "a" is odd',
    ]);
  });

  test("without structured content breaks its promise, and one that cannot be checked is delivered", async () => {
    expect(await checkOutput({ isError: false }, { outputSchema }, validatorOf())).toEqual([
      "the tool declares an outputSchema, but its result has no structured content",
    ]);
    const failing = validatorOf(Promise.reject(new Error("no worker")));
    expect(await checkOutput({ isError: false, structuredContent }, { outputSchema }, failing)).toEqual([
      "the result was not checked against the tool's outputSchema: no worker",
    ]);
  });
});
