// What the page says in German.

export const GERMAN = Object.freeze({
  language: "Sprache",
  percent: "{number} %",
  footer:
    "Keine Cookies, keine Beobachtung, auf diesem Gerät bleibt nur, was Sie speichern. Was " +
    "es verlässt, ist die eine versiegelte Nachricht, die Sie vorher sehen.",

  asking: "Die Frage wird geholt …",
  drawing: "Ihre Nachricht wird gezogen und versiegelt …",
  sending: "Wird gesendet …",

  "who-asks": "Wer fragt",
  contact: "So erreichen Sie sie",
  consent: "Womit Sie beim Absenden einverstanden sind",

  "part-1": "Teil 1 · {step}",
  "part-2": "Teil 2 · {step}",
  "step-1": "Schritt 1 von 2",
  "step-2": "Schritt 2 von 2",
  done: "Fertig",

  "lead-choice":
    "Diese Umfrage hat zwei Teile. Zuerst sagen alle, wie privat sie bleiben möchten. " +
    "Später stellt derselbe Link die Frage von oben. Merken Sie sich Ihre Stufe: Hier wird " +
    "nichts gespeichert.",
  "lead-items":
    "Der Zufall entscheidet auf diesem Gerät, welche Ihrer Antworten gesendet werden, und " +
    "fügt andere hinzu. Wählen Sie dieselbe Stufe wie im ersten Teil.",
  "lead-mean":
    "Ihre Nachricht nennt ein Ende des Bereichs, nicht Ihre Zahl. Der Zufall entscheidet " +
    "auf diesem Gerät, welches; Ihre Zahl macht das nähere Ende wahrscheinlicher. Sie " +
    "wählen, wie sehr.",
  "lead-several":
    "Ihre Nachricht nennt mehrere Antworten. Der Zufall entscheidet auf diesem Gerät, " +
    "welche; Ihre ist mit höherer Wahrscheinlichkeit dabei. Sie wählen, wie sehr.",
  "lead-one":
    "Der Zufall entscheidet auf diesem Gerät, ob Ihre Nachricht sagt, was Sie antworten, " +
    "oder etwas anderes. Sie wählen, wie viel sie verraten darf.",

  "level-question": "Wie viel darf man über Sie erfahren?",
  "level-hint":
    "Jemand liest Ihre Nachricht und überlegt, ob etwas über Ihre Antwort stimmt. Vorher " +
    "schien es so wahrscheinlich wie sein Gegenteil: 50 %. Nachher ist die Person",
  "level-hint-central":
    "Jemand untersucht die Nachrichten von allen, nachdem sie gemischt wurden, und " +
    "überlegt, ob etwas über Ihre Antwort stimmt. Vorher schien es so wahrscheinlich wie " +
    "sein Gegenteil: 50 %. Nachher ist die Person, von seltenen Fällen abgesehen,",
  "sure-before": "höchstens zu ",
  "sure-after": " sicher",
  "scale-low": "50 %, geraten",
  "scale-high": "100 %, gewiss",
  "in-numbers": "Dasselbe in Zahlen",
  "column-level": "Stufe",
  "column-local": "Epsilon Ihrer Nachricht",
  "column-central": "Epsilon nach dem Mischen",
  "numbers-hint":
    "Nach dem Mischen, bei delta = {delta}: ein Versprechen über das, was weitergegeben " +
    "wird. Es zählt darauf, dass genug Menschen teilnehmen. Bis es genug sind, wird nichts " +
    "weitergegeben.",
  "level-only": "Die Stufe dieser Umfrage",
  "level-first": "Am privatesten",
  "level-last": "Am hilfreichsten",
  "level-middle": "Dazwischen",
  "level-step": "Stufe {place} von {count}",

  answer: "Ihre Antwort",
  answers: "Ihre Antworten, bis zu {most}",
  yes: "Ja",
  no: "Nein",
  "number-label": "Eine Zahl von {low} bis {high}",
  "category-label": "Eine von {count}",
  choose: "Bitte wählen",
  "items-count": "{count} von höchstens {most} gewählt",
  code: "Ihr Code",
  "code-label":
    "Sie haben einen Link bekommen, der mit einem Code endet, oder nur den Code: 43 Zeichen.",
  "missing-level": "Wählen Sie zuerst eine Stufe.",
  "missing-answer": "Wählen Sie zuerst eine Antwort.",
  "missing-code": "Das ist kein Code: Er hat 43 Buchstaben, Ziffern, - und _.",
  "missing-number": "Schreiben Sie eine Zahl von {low} bis {high}.",
  "missing-separator": "Schreiben Sie die Zahl ohne Zeichen zwischen den Tausendern.",
  "missing-items": "Wählen Sie höchstens {most} Antworten.",
  make: "Meine Nachricht erstellen",
  "make-hint": "Sie sehen die Nachricht, bevor sie gesendet wird.",
  "make-hint-once":
    "Sie sehen die Nachricht, bevor sie gesendet wird. Der Zufall wird einmal gezogen: " +
    "Danach lässt sich die Antwort nicht mehr ändern.",

  "message-title": "Das würde gesendet",
  "at-most-sure": "Höchstens zu {sure} sicher",
  "high-end": "{number}, das obere Ende",
  "low-end": "{number}, das untere Ende",
  "no-answers": "Keine der Antworten",
  "and-more": "und {count} weitere",
  times: "{name}, {count} Mal",
  "one-empty": "1 leerer Teil",
  empty: "{count} leere Teile",
  "about-choice":
    "Das ist die Stufe, die Sie gewählt haben, so wie sie ist. Sie wird ohne Namen gezählt.",
  "about-items":
    "Ihre Nachricht kann einige Ihrer Antworten enthalten, keine oder andere: Der Zufall " +
    "hat sie zusammengestellt. Mit denen aller anderen gemischt, macht sie niemanden zu " +
    "mehr als {sure} sicher, dass etwas über Ihre Antworten stimmt, das vorher so " +
    "wahrscheinlich schien wie sein Gegenteil. Das zählt darauf, dass die beiden unten " +
    "nicht zusammenarbeiten.",
  "about-one":
    "Ihre Nachricht kann von Ihrer Antwort abweichen: Der Zufall hat entschieden. Wer sie " +
    "sieht, kann höchstens zu {sure} sicher sein, dass etwas über Ihre Antwort stimmt, das " +
    "vorher so wahrscheinlich schien wie sein Gegenteil, selbst wenn alle anderen " +
    "zusammenarbeiten.",
  "about-several":
    "Ihre Nachricht nennt mehrere Antworten und lässt vielleicht Ihre weg: Der Zufall hat " +
    "entschieden. Wer sie sieht, kann höchstens zu {sure} sicher sein, dass etwas über Ihre " +
    "Antwort stimmt, das vorher so wahrscheinlich schien wie sein Gegenteil, selbst wenn " +
    "alle anderen zusammenarbeiten.",
  "about-end":
    "Sie ist immer ein Ende des Bereichs. Aus vielen solchen Nachrichten lässt sich der " +
    "Durchschnitt der Antworten berechnen.",
  "who-sees": "Wer sieht was",
  collector: "Der Server, der sammelt",
  "collector-sees": "Ihren Code und Ihre Netzadresse; die Nachricht nur versiegelt",
  "collector-sees-level":
    "Ihren Code, Ihre Stufe ({sure}) und Ihre Netzadresse; die Nachricht nur versiegelt",
  analyst: "Wer auswertet",
  "analyst-sees": "die Nachricht, gemischt mit denen aller anderen; nicht, von wem sie ist",
  "analyst-sees-level":
    "die Nachricht und ihre Stufe, gemischt mit denen aller anderen auf dieser Stufe; " +
    "nicht, von wem sie ist",
  send: "Diese Nachricht senden",
  "send-again": "Noch einmal senden",
  "same-again": "{trouble} Senden Sie dieselbe Nachricht noch einmal.",
  "send-hint":
    "Senden Sie sie, was auch immer sie sagt. Auch wegzugehen, weil sie etwas sagt, würde " +
    "etwas verraten.",
  bytes: "Die Bytes, die dieses Gerät verlassen",
  "bytes-hint":
    "{count} Bytes: wofür sie sind, Ihr Code und die versiegelte Nachricht. SHA-256 der " +
    "Umfrage, für alle gleich:",
  "bytes-hint-level":
    "{count} Bytes: wofür sie sind, Ihr Code, Ihre Stufe und die versiegelte Nachricht. " +
    "SHA-256 der Umfrage, für alle gleich:",

  arrived: "Danke. Ihre Nachricht ist angekommen.",
  "arrived-perhaps": "Danke. Ihre Nachricht ist wohl angekommen.",
  "receipt-checked":
    "Der Server hat sie mit einer signierten Quittung bestätigt, und die Signatur stimmt.",
  "receipt-unchecked":
    "Der Server hat sie mit einer Quittung bestätigt. Dieser Browser kann ihre Signatur " +
    "nicht prüfen.",
  "receipt-lost":
    "Der Server hat schon eine Nachricht mit Ihrem Code: höchstwahrscheinlich Ihren ersten " +
    "Versuch, dessen Antwort verloren ging.",
  "keep-title": "Eine Quittung, wenn Sie möchten",
  "keep-why":
    "Mit ihr können Sie später prüfen, dass Ihre Nachricht unter denen war, aus denen das " +
    "Ergebnis berechnet wurde: shuffledp device check. Sie enthält weder Ihre Antwort noch " +
    "Ihre Stufe noch Ihren Code.",
  keep: "Quittung speichern",
  "keep-hint":
    "Wer sie findet, weiß, dass Sie teilgenommen haben. Es geht nichts verloren, wenn Sie " +
    "sie nicht behalten.",
  later: "Behalten Sie Ihren Link und merken Sie sich Ihre Stufe: Als Nächstes kommt die Frage.",
  close: "Sie können diese Seite schließen. Auf diesem Gerät bleibt nur, was Sie speichern.",

  "trouble-title": "Teilnehmen ist gerade nicht möglich",
  "trouble-sealed": "Ihre Nachricht konnte nicht versiegelt werden",
  "trouble-refused": "Ihre Nachricht wurde nicht angenommen",
  "not-sealed":
    "Es wurde nichts gesendet. Öffnen Sie Ihren Link noch einmal oder in einem anderen Browser.",
  insecure: "Diese Seite braucht eine sichere Verbindung: Ihre Adresse beginnt mit https.",
  "other-survey":
    "Dieser Server zeigt eine andere Umfrage als die, zu der Ihr Link einlädt. Es wurde " +
    "nichts gesendet.",
  "old-browser":
    "Dieser Browser ist zu alt, um Nachrichten zu versiegeln. Öffnen Sie Ihren Link in einem " +
    "anderen.",
  "unknown-survey": "Diese Seite kennt diese Art von Umfrage nicht.",
  "unknown-suite":
    "Diese Umfrage versiegelt ihre Nachrichten auf eine Art (X-Wing), die diese Seite nicht " +
    "beherrscht. Sie können stattdessen mit dem Programm shuffledp teilnehmen.",
  "no-plan":
    "Der Plan dieser Umfrage ist noch nicht veröffentlicht. Kommen Sie später wieder.",
  "unknown-plan": "Diese Seite kennt diese Art von Plan nicht.",
  "wrong-receipt":
    "Die Quittung des Servers ist nicht, was die Umfrage verspricht: Ihre Nachricht zählt " +
    "vielleicht nicht.",
  unreachable: "Der Server der Umfrage war nicht zu erreichen.",
  unexpected: "Etwas Unerwartetes ist geschehen.",
  refused: "Der Server der Umfrage hat die Nachricht nicht angenommen.",
  "refused-because": "Der Server der Umfrage hat die Nachricht nicht angenommen. ({title}.)",
  "token-spent":
    "Dieser Link wurde schon benutzt. Jeder Link zählt einmal, deshalb wurde nichts noch " +
    "einmal gesendet. Wenn Sie es waren, ist Ihre Nachricht schon angekommen: Es ist nichts " +
    "mehr zu tun.",
  "token-forged":
    "Dieser Link gehört nicht zu dieser Runde der Umfrage. Öffnen Sie den neuesten Link, den " +
    "Sie bekommen haben, oder bitten Sie um einen neuen, wer Sie eingeladen hat.",
  "not-open": "Diese Runde der Umfrage ist geschlossen und nimmt keine Nachrichten mehr an.",
  "not-begun":
    "Diese Runde der Umfrage hat noch nicht begonnen. Behalten Sie Ihren Link und öffnen Sie " +
    "ihn später noch einmal.",
  "wrong-epoch":
    "Eine andere Runde der Umfrage hat begonnen, seit Sie diese Seite geöffnet haben. Öffnen " +
    "Sie Ihren neuesten Link noch einmal.",
  "wrong-stage":
    "Die Umfrage ist beim nächsten Schritt, seit Sie diese Seite geöffnet haben. Öffnen Sie " +
    "Ihren Link noch einmal.",
  "storage-full":
    "Der Server der Umfrage hat im Moment keinen Platz. Versuchen Sie es später noch einmal.",
  "unknown-task":
    "Diese Umfrage ist hier nicht bekannt. Prüfen Sie, ob der Link vollständig ist.",
});
