import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { commandWord } from "../../src/shell/command-word.ts";

test("suggested commands begin with fairlead only if the user's shell finds that program", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("bin/fairlead", "#!/bin/sh\n");
  await chmod(file, 0o755);
  await folder.write("windows/fairlead.cmd", "");
  await chmod(join(folder.path, "windows/fairlead.cmd"), 0o755);
  const [bin, windows] = [join(folder.path, "bin"), join(folder.path, "windows")];
  const word = (PATH: string | undefined, platform: NodeJS.Platform = "linux", more: object = {}): string =>
    commandWord({ env: { ...(PATH !== undefined && { PATH }), ...more }, platform });

  expect(word(bin)).toBe("fairlead");
  expect(word(`/nowhere::${bin}`)).toBe("fairlead");
  expect(word(`${windows};C:\\x`, "win32")).toBe("fairlead");
  for (const path of [undefined, "", "/nowhere", windows]) expect(word(path)).toBe("npx --no -- fairlead");
  expect(word(bin, "win32")).toBe("npx --no -- fairlead");
  expect(word(bin, "linux", { npm_lifecycle_event: "start" })).toBe("npx --no -- fairlead");
  await chmod(file, 0o644);
  expect(word(bin)).toBe("npx --no -- fairlead");
});
