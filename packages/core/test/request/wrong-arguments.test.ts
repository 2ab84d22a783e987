import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createHost } from "../../src/index.ts";

const wrongNames = [undefined, null, 5, {}, [], true];

test.each(["call", "readResource", "getPrompt"] as const)(
  "a wrong argument of host.%s is a usage error that names it",
  async (method) => {
    await using folder = await temporaryFolder();
    const environment = { env: {}, home: folder.path, cwd: folder.path, platform: process.platform };
    await using host = await createHost({ environment, workspace: false });
    // As a program without types calls it.
    const request = host[method] as (...given: readonly unknown[]) => Promise<unknown>;
    const options = method === "readResource" ? [null] : [{}, null];
    const parameter = { call: "tool", readResource: "uri", getPrompt: "prompt" }[method];
    const usage = (name: string) => ({ code: "usage", message: expect.stringContaining(`"${name}" must be`) });
    for (const wrong of wrongNames) {
      await expect(request(wrong, "greet")).rejects.toMatchObject(usage("server"));
      await expect(request("demo", wrong)).rejects.toMatchObject(usage(parameter));
    }
    for (const wrong of [5, "", []])
      await expect(request("demo", "greet", ...options.slice(0, -1), wrong)).rejects.toMatchObject(usage("options"));
  },
);
