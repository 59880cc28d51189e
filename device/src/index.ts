// The package's public names.

export { Device } from "./device.js";
export type { Report } from "./device.js";
export { DeviceError, ERROR_CODES } from "./device-error.js";
export type { ErrorCode, Problem } from "./device-error.js";
export type { DeviceStorage } from "./device-state.js";
export { askedQuestions, isNumber } from "./form-encoding.js";
export { readLink } from "./link.js";
export type { Link } from "./link.js";
export type { Cell, Form, Meaning, Message } from "./mechanism.js";
export { formOf } from "./mechanisms/catalog.js";
export { meaningKind, meaningOf } from "./message.js";
export type { Answer } from "./message.js";
export type { Receipt } from "./receipt.js";
export { canSeal, hasTargets, loadSurvey, readSurvey, refusalOf } from "./survey.js";
export type { Survey } from "./survey.js";
export type { Choice, Combination, Notice, Quantity, Question, Task, Translation } from "./task.js";
export { translated } from "./translation.js";
