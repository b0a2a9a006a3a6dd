/** What reaches the client before its connection breaks in the middle of an answer. */
export interface PartialAnswer {
  readonly status: number;
  /** Null: none. */
  readonly contentType: string | null;
  /** Bytes of the whole body, as promised in the head. */
  readonly length: number;
  readonly text: string;
}

/** Thrown instead of an answer where a fault breaks the connection: on a socket it is destroyed, in a test `fetch` rejects with this. */
export class ConnectionLost extends Error {
  /** A text: bytes that are no HTTP. */
  readonly partial: PartialAnswer | string | null;

  constructor(reason: string, partial: PartialAnswer | string | null = null) {
    super(`the sandbox broke the connection: ${reason}`);
    this.name = "ConnectionLost";
    this.partial = partial;
  }
}
