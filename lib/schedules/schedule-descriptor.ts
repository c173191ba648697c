/** What runs when, in neutral words: five-field cron, UTC unless `timezone` names an IANA zone. */
export interface ScheduleDescriptor {
  readonly name: string;
  readonly cron: string;
  readonly action: string;
  readonly timezone?: string | undefined;
}
