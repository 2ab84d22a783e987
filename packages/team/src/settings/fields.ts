/** Reads the values of `fairlead.team`, and names the key of each mistake. */

import { HostError } from "@fairlead/core";
import { isLoopbackHost } from "@fairlead/core/connect";
import { isObject } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";

export type Fields = Readonly<Record<string, unknown>>;

/** @throws HostError `settings_invalid` for anything else than an object with some of these keys */
export function objectAt(value: unknown, where: string, keys: readonly string[]): Fields {
  if (!isObject(value)) throw invalid(where, "it must be an object");
  const other = Object.keys(value).find((key) => !keys.includes(key));
  if (other !== undefined) throw invalid(`${where}.${other}`, `there is no such key; there are ${keys.join(", ")}`);
  return value;
}

export function listAt(value: unknown, where: string): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid(where, "it must be a list");
  return value;
}

export function textsAt(value: unknown, where: string): readonly string[] {
  return (typeof value === "string" ? [value] : listAt(value, where)).map((each) => textAt(each, where));
}

export function textAt(value: unknown, where: string): string {
  if (typeof value !== "string" || value === "") throw invalid(where, "it must be a text");
  return value;
}

export function booleanAt(value: unknown, where: string, standard: boolean): boolean {
  if (value !== undefined && typeof value !== "boolean") throw invalid(where, "it must be true or false");
  return value ?? standard;
}

export function numberAt(value: unknown, where: string, standard: number, from: number, to: number): number {
  const number = value ?? standard;
  if (!Number.isInteger(number) || Number(number) < from || Number(number) > to)
    throw invalid(where, `it must be a whole number from ${from} to ${to}`);
  return Number(number);
}

export function choiceAt<Choice extends string>(
  value: unknown,
  where: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  if (value === undefined) return choices[0];
  const found = choices.find((each) => each === value);
  if (found === undefined) throw invalid(where, `it must be one of ${choices.join(", ")}`);
  return found;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time such as `30s`, `24h` or a number of milliseconds. */
export function timeAt(value: unknown, where: string, standard: number): number {
  if (value === undefined) return standard;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  const [, number, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(typeof value === "string" ? value : "") ?? [];
  if (number === undefined || unit === undefined) throw invalid(where, "it must be a time, such as 30s or 24h");
  return Number(number) * (units[unit] ?? 1);
}

/** A web address without a fragment. With a fragment, two principals with the same name would be possible. */
export function addressAt(value: unknown, where: string): string {
  const text = textAt(value, where);
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(new URL(text).protocol) || text.includes("#"))
    throw invalid(where, "it must be an https address without a fragment");
  return text;
}

/**
 * The address of an issuer or of its keys. Who could change what is read there could sign tokens for everyone, so only a
 * server on this machine may be without TLS.
 */
export function issuerAddressAt(value: unknown, where: string): string {
  const text = addressAt(value, where);
  if (!isUnalterable(text)) throw invalid(where, "it must begin with https, unless the issuer is on this machine");
  return text;
}

/** Whether no attacker on the network can change what is read from an address. */
export function isUnalterable(address: string): boolean {
  const url = parseUrl(address);
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
}

export function invalid(where: string, cause: string): HostError {
  return new HostError("settings_invalid", `${where} is invalid: ${cause}`, {
    next: "Correct the system settings file; docs/team.md shows an example.",
  });
}
