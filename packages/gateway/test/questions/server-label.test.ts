import { expect, test } from "vitest";
import { mentionsFairlead, withServerName } from "../../src/questions/server-label.ts";

test.each([
  "Fairlead",
  "FAIRLEAD asks",
  "F\u0430irlead",
  "Ｆａｉｒｌｅａｄ",
  "FairIead",
  "Fa1r|ead",
  "F a i r l e a d",
  "F.a-i_r\u200Bl\u00ADe\u0301ad",
  "𝔽𝕒𝕚𝕣𝕝𝕖𝕒𝕕",
  "Ⓕⓐⓘⓡⓛⓔⓐⓓ",
  "🇫🇦🇮🇷🇱🇪🇦🇩",
  "🅵🅰🅸🆁🅻🅴🅰🅳",
  "ꓝꓮꓲꓣꓡꓰꓮꓓ",
  "ҒАІГӀЕАԀ",
  "Ϝαιгӏεαԁ",
  "ғᴀɪʀʟᴇᴀᴅ",
  "FAIRᏞEAD",
  "fäïrlëäd",
  "ſairlead",
  "Fairleacl",
  "\u202Edaelriaf",
  "ꜰᴀɪʀʟᴇᴀᴅ",
  "ᖴᗩIᖇᒪEᗩᗪ",
  "𐊇𐊠𐊦𐊕𐊍𐊆𐊠𐊅",
  "F\u{2C81}irlead",
  "Fai\u{118C2}lead",
  "₣ɐirleⱥ₫",
  "F∀IR£EAD",
  "FΛIRLΞΛD",
  "Fa❘r⏐ead",
  "Faꟾrlead",
  "pɐǝlɹᴉɐℲ",
  "⠋⠁⠊⠗⠇⠑⠁⠙",
  "Fair<b></b>lead",
  "F&#97;irlead",
  "x".repeat(65_537),
])("%j can be read as Fairlead", (text) => {
  expect(mentionsFairlead(text)).toBe(true);
});

test.each([
  "What is your name?",
  "Введите имя файла для записи",
  "请输入你的名字",
  "フェアリード",
  "Ελλάδα, ξένος",
  "שם הקובץ؟ اسم الملف",
  "ファイルの名前 & <1 MB>",
  "failread, lead fair, fairly dead",
  "x".repeat(65_536),
  "",
])("%j cannot be read as Fairlead", (text) => {
  expect(mentionsFairlead(text)).toBe(false);
});

test("a label shows letters of another script in the server's name", () => {
  expect(withServerName("Hello", "F\u0430irlead", "says")).toBe('The server "F⟨U+0430⟩irlead" says: Hello');
});
