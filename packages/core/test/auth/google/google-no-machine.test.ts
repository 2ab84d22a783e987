import { webServer } from "@fairlead/test-servers";
import { expect, onTestFinished, test, vi } from "vitest";
import { cloudPlatform, googleScene, headersOf } from "./google-scene.ts";

test.each([
  [{}, 1],
  [{ METADATA_SERVER_DETECTION: "bios-only" }, 0],
])(
  "a machine outside of Google's cloud is told that it has no credentials, without a warning: %j",
  async (env, asked) => {
    // Google's own check warns about every answer that is not a metadata server's.
    await using other = await webServer((_request, response) => void response.end("hello"));
    vi.stubEnv("GCE_METADATA_HOST", new URL(other.origin).host);
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", note);
    onTestFinished(() => {
      process.off("warning", note);
      vi.unstubAllEnvs();
    });
    await using scene = await googleScene({ env, credentials: () => undefined });
    const hook = await scene.hookFor({ authProviderType: "google", oauth: { scopes: [cloudPlatform] } });
    await expect(headersOf(hook)).rejects.toMatchObject({ code: "auth_required" });
    expect(other.seen).toHaveLength(asked);
    // Node reports a warning in the next turn of its loop.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  },
);
