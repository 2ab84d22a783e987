import type * as genai from "@google/genai";
import { expectTypeOf, test } from "vitest";
import type {
  CallableTool,
  Content,
  FunctionCall,
  FunctionDeclaration,
  FunctionResponse,
  Part,
} from "../../src/normalise/model-types.ts";

// Nothing of the package runs: the compiler holds our shapes against its types.

test("what we hand to the API's package is of its types", () => {
  expectTypeOf<CallableTool>().toExtend<genai.CallableTool>();
  expectTypeOf<Part>().toExtend<genai.Part>();
  expectTypeOf<Content>().toExtend<genai.Content>();
  expectTypeOf<FunctionDeclaration>().toExtend<genai.FunctionDeclaration>();
  expectTypeOf<FunctionResponse>().toExtend<genai.FunctionResponse>();
});

test("what the API's package hands to us is of our types", () => {
  expectTypeOf<genai.CallableTool>().toExtend<CallableTool>();
  expectTypeOf<genai.FunctionCall>().toExtend<FunctionCall>();
  expectTypeOf<genai.FunctionCall[]>().toExtend<Parameters<CallableTool["callTool"]>[0]>();
  expectTypeOf<genai.Part>().toExtend<Part>();
});
