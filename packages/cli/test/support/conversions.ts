/** Servers of other programs, and what becomes of each. */

import { expect } from "vitest";
import { type Conversion, convertServer } from "../../src/import/convert.ts";
import type { ConversionContext } from "../../src/import/field-reader.ts";
import type { Program, Remark } from "../../src/import/program.ts";

export interface Case {
  readonly title: string;
  readonly program: Program;
  readonly value: unknown;
  readonly context?: Partial<ConversionContext>;
  readonly entry: object;
  readonly enabled?: boolean;
  /** `kind key`, in order. */
  readonly remarks?: readonly string[];
}

export const context = { platform: "linux", root: "/work/app", target: "user", inputs: new Map() } as const;

export function convert({ program, value, context: more }: Pick<Case, "program" | "value" | "context">): Conversion {
  return convertServer({ name: "it", value, disabled: false }, { ...context, program, ...more });
}

export function short({ kind, key }: Remark): string {
  return `${kind} ${key}`;
}

export function expectConversion({ entry, enabled = true, remarks = [], ...input }: Case): void {
  const conversion = convert(input);
  expect({ entry: conversion.entry, enabled: conversion.enabled, remarks: conversion.remarks.map(short) }).toEqual({
    entry,
    enabled,
    remarks,
  });
}
