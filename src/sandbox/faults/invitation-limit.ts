/** How many invitations an address may be sent, and in how many seconds. */
export interface InvitationLimit {
  readonly limit: number;
  readonly window: number;
  /** The one address that is counted; absent: each. */
  readonly email?: string | undefined;
}

/** Counts the invitations of each address; times in ms. */
export interface InvitationLimiter {
  /** Returns after how long the address may be invited again; `null` if it may be now. */
  wait(email: string, now: number): number | null;
  /** Counts an invitation that was sent. */
  sent(email: string, now: number): void;
}

/** Starts to count. */
export function createInvitationLimiter({ limit, window, email: only }: InvitationLimit): InvitationLimiter {
  const sent = new Map<string, readonly number[]>();
  const isCounted = (email: string): boolean => only === undefined || keyOf(only) === keyOf(email);
  return {
    wait(email, now) {
      if (!isCounted(email)) return null;
      const times = (sent.get(keyOf(email)) ?? []).filter((time) => time > now - window * 1000);
      if (times.length < limit) return null;
      return (times.at(-limit) ?? now) + window * 1000 - now;
    },
    sent(email, now) {
      sent.set(keyOf(email), [...(sent.get(keyOf(email)) ?? []), now]);
    },
  };
}

function keyOf(email: string): string {
  return email.toLowerCase();
}
