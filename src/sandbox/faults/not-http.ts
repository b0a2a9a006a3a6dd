/** Ways not to answer in HTTP. */
export const NOT_HTTP_ANSWERS = ["garbage", "bad-header", "bad-chunk", "both-lengths"] as const;

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/** The bytes that are sent in place of an answer. */
export const NOT_HTTP_BYTES: Readonly<Record<(typeof NOT_HTTP_ANSWERS)[number], string>> = {
  garbage: "\u0000\u0001 something else \r\n\r\n",
  "bad-header": `${HEAD}no header\u0000at all\r\n\r\n{}`,
  "bad-chunk": `${HEAD}transfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`,
  "both-lengths": `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
};
