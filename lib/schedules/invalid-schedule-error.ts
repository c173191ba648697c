import { DormouseError } from '../errors.ts';

/** The part of a schedule that is at fault. `cron` stands for the expression as a whole. */
export type ScheduleField =
  | 'name'
  | 'action'
  | 'timezone'
  | 'cron'
  | 'second'
  | 'minute'
  | 'hour'
  | 'dayOfMonth'
  | 'month'
  | 'dayOfWeek'
  | 'year';

/** A schedule that means nothing, never fires, or cannot be kept exactly. `field` says where, `reason` why. */
export class InvalidScheduleError extends DormouseError {
  readonly code = 'invalid_schedule';
  readonly field: ScheduleField;
  readonly reason: string;

  constructor(field: ScheduleField, reason: string) {
    super(`${field}: ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}
