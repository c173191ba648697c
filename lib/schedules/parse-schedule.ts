import { looksLikeAws, parseAwsExpression } from './aws-expression.ts';
import type { ParsedSchedule } from './parsed-schedule.ts';
import { parseUnixCron } from './unix-cron.ts';

/** Reads five-field cron, a nickname, or an AWS expression. @throws InvalidScheduleError naming the field */
export function parseSchedule(cron: string): ParsedSchedule {
  const text = cron.trim();
  return looksLikeAws(text) ? parseAwsExpression(text) : parseUnixCron(text);
}
