/**
 * Characters that are not seen but change what is: controls, direction overrides (what is read is then not what is sent), spaces without
 * width, and halves of a character. Line breaks, tabs and the joiner inside an emoji stay.
 */
const deceiving =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]|\p{Cs}/gu;

/** The same text with whatever would deceive the eye spelled out, as `<U+202E>`. Line ends become `\n`. */
export const visibleText = (text: string): string =>
  text
    .replaceAll(/\r\n?/gu, "\n")
    .replaceAll(deceiving, (character) => `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
