import { expect, test } from "vitest";
import { namedValuesIn, replaceValues } from "../../src/connect/redact.ts";

const isTelling = (name: string): boolean => /^(?:key|token)$/i.test(name);

test.each([
  ['{"key": "abc", "other": "def"}', '{"key": "<abc>", "other": "def"}'],
  ["{'key':'abc'}", "{'key':'<abc>'}"],
  [String.raw`{"key": "a\"b"}`, String.raw`{"key": "<a\"b>"}`],
  [String.raw`"{\"key\": \"abc\"}"`, String.raw`"{\"key\": \"<abc>\"}"`],
  [String.raw`"{\"key\": \"a\\\"b\", \"other\": 1}"`, String.raw`"{\"key\": \"<a\\\"b>\", \"other\": 1}"`],
  [String.raw`{"key": "a\\", "token": "b"}`, String.raw`{"key": "<a\\>", "token": "<b>"}`],
  [String.raw`"{\"key\": \"a\\\\\", \"token\": \"\"}"`, String.raw`"{\"key\": \"<a\\\\>\", \"token\": \"\"}"`],
  [`{"key": 'it"s', "token": "it's"}`, `{"key": '<it"s>', "token": "<it's>"}`],
  ['key: "no end', 'key: "no end'],
  [String.raw`{"a":"{\"token\":\"b\\\"c\"}"}`, String.raw`{"a":"{\"token\":\"<b\\\"c>\"}"}`],
  [String.raw`{"key":"{\"token\":\"b\"}"}`, String.raw`{"key":"<{\"token\":\"b\"}>"}`],
  ["key: 12.5, token: -3", "key: <12.5>, token: <-3>"],
  ["key: abc", "key: abc"],
  ["--key=abc --other=def token=ghi", "--key=<abc> --other=def token=<ghi>"],
  ["TOKEN=\"abc\" KEY='def'", "TOKEN=\"<abc>\" KEY='<def>'"],
  ["token=abc;key=def|x&y", "token=<abc>;key=<def>|x&y"],
  ["mykey=abc my.key=def", "mykey=abc my.key=def"],
  ['key: "" token=', 'key: "" token='],
  ['key: "token=abc" token=def', 'key: "<token=abc>" token=<def>'],
  ["token=key:1 key: 2", "token=<key:1> key: <2>"],
  ["nothing to see", "nothing to see"],
])("the values of telling names in %j", (text, expected) => {
  expect(replaceValues(text, namedValuesIn(text, isTelling), (value) => `<${value}>`)).toBe(expected);
});

test.each([0, 1, 2, 3])("a value with quotes and backslashes in JSON that was written as JSON %i times", (times) => {
  for (const secret of ['a"b', "a\\", '"', "\\", '\\"', '"\\"\\', 'a\\\\"', "'", "a\nb"]) {
    let text = JSON.stringify({ key: secret, other: 1 });
    let value = JSON.stringify(secret).slice(1, -1);
    for (let time = 0; time < times; time += 1) {
      text = JSON.stringify(text);
      value = JSON.stringify(value).slice(1, -1);
    }
    expect(namedValuesIn(text, isTelling).map((found) => found.value)).toEqual([value]);
  }
});

test("each value has its name and its place", () => {
  expect(namedValuesIn('x --token="abc", "key": 7', isTelling)).toEqual([
    { name: "--token", value: "abc", start: 11 },
    { name: "key", value: "7", start: 24 },
  ]);
});
