import { ProblemError } from "../answer.ts";
import { INVITATION_MS, userAt } from "../routes/member-operations.ts";
import type { Member, Status } from "./snapshot.ts";
import { statusOf, touch } from "./store.ts";

function emailOf(member: Member): string {
  const email = member.user?.email ?? member.invite?.email;
  if (email === undefined) throw new ProblemError(409, `${member.id} has no e-mail address.`);
  return email;
}

/** Returns a member with another status and the user or invitation that the status requires. */
export function withStatus(member: Member, status: Status, now: number): Member {
  const updatedAt = touch(member, now);
  switch (status) {
    case "accepted": {
      const user = { ...(member.user ?? userAt(emailOf(member))), disabledAt: undefined };
      return { ...member, status, user, invite: undefined, updatedAt };
    }
    case "pending":
    case "expired": {
      const expiresAt = status === "pending" ? now + INVITATION_MS : now;
      const invite = { email: emailOf(member), expiresAt };
      return { ...member, status: "pending", user: undefined, invite, updatedAt };
    }
    case "disabled": {
      const user = member.user?.type === "managed_user" ? { ...member.user, disabledAt: now } : member.user;
      return { ...member, status, user, updatedAt };
    }
    case "unknown":
      return { ...member, status, updatedAt };
    default:
      return status satisfies never;
  }
}

const FROM = { accept: "pending", expire: "pending", disable: "accepted" } as const;
const TO = { accept: "accepted", expire: "expired", disable: "disabled" } as const;

/** An event in a member's life that no request of the contract causes. */
export type Event = keyof typeof FROM;

/** Returns a member after an event; throws a 409 if its status does not allow it. */
export function afterEvent(member: Member, event: Event, now: number): Member {
  const status = statusOf(member, now);
  if (status !== FROM[event]) {
    throw new ProblemError(409, `Cannot ${event} ${member.id}: it is ${status}, not ${FROM[event]}.`);
  }
  return withStatus(member, TO[event], now);
}
