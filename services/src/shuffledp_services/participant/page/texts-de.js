// What the page says in German.

export const GERMAN = Object.freeze({
  language: "Sprache",
  percent: "{number}\u00a0%",
  footer:
    "Keine Cookies, kein Tracking. Auf diesem Gerät bleibt nur, was Sie speichern; was es " +
    "verlässt, ist die eine versiegelte Nachricht, die Sie vorher sehen.",

  asking: "Die Frage wird geladen …",
  drawing: "Ihre Nachricht wird ausgelost und versiegelt …",
  sending: "Wird gesendet …",

  "who-asks": "Wer fragt",
  contact: "Kontakt",
  consent: "Worin Sie mit dem Absenden einwilligen",

  "part-1": "Teil 1 · {step}",
  "part-2": "Teil 2 · {step}",
  "step-1": "Schritt 1 von 2",
  "step-2": "Schritt 2 von 2",
  done: "Fertig",

  "lead-choice":
    "Diese Umfrage hat zwei Teile. Zuerst geben alle an, wie gut sie geschützt sein " +
    "möchten. Später führt derselbe Link zur Frage von oben. Merken Sie sich Ihre Stufe: " +
    "Hier wird nichts gespeichert.",
  "lead-items":
    "Der Zufall entscheidet auf diesem Gerät, welche Ihrer Antworten gesendet werden, und " +
    "fügt andere hinzu. Wählen Sie dieselbe Stufe wie im ersten Teil.",
  "lead-mean":
    "Ihre Nachricht nennt ein Ende des Bereichs, nicht Ihre Zahl. Der Zufall entscheidet " +
    "auf diesem Gerät, welches; Ihre Zahl macht das nähere Ende wahrscheinlicher. Sie " +
    "wählen, wie sehr.",
  "lead-grid":
    "Der Zufall entscheidet auf diesem Gerät, ob Ihre Nachricht Ihre Zahl nennt, gerundet " +
    "auf eine von wenigen, oder irgendeine andere davon. Sie wählen, wie viel sie verraten " +
    "darf.",
  "lead-several":
    "Ihre Nachricht nennt mehrere Antworten. Der Zufall entscheidet auf diesem Gerät, " +
    "welche; Ihre ist mit höherer Wahrscheinlichkeit dabei. Sie wählen, wie sehr.",
  "lead-one":
    "Der Zufall entscheidet auf diesem Gerät, ob Ihre Nachricht sagt, was Sie antworten, " +
    "oder etwas anderes. Sie wählen, wie viel sie verraten darf.",

  "level-question": "Wie viel darf man über Sie erfahren?",
  "level-hint":
    "Stellen Sie sich vor, jemand liest Ihre Nachricht und überlegt, ob eine Vermutung über " +
    "Ihre Antwort stimmt. Vorher schien sie so wahrscheinlich wie ihr Gegenteil: " +
    "50\u00a0%. Nachher ist sich die Person",
  "level-hint-central":
    "Stellen Sie sich vor, jemand untersucht die Nachrichten aller, nachdem sie gemischt " +
    "wurden, und überlegt, ob eine Vermutung über Ihre Antwort stimmt. Vorher schien sie so " +
    "wahrscheinlich wie ihr Gegenteil: 50\u00a0%. Nachher ist sich die Person, von seltenen " +
    "Fällen abgesehen,",
  "sure-before": "höchstens zu ",
  "sure-after": " sicher",
  "scale-low": "50\u00a0%, geraten",
  "scale-high": "100\u00a0%, sicher",
  "in-numbers": "Dasselbe in Zahlen",
  "column-level": "Stufe",
  "column-local": "Epsilon Ihrer Nachricht",
  "column-central": "Epsilon nach dem Mischen",
  "numbers-hint":
    "Nach dem Mischen, bei delta = {delta}: ein Versprechen über das, was weitergegeben " +
    "wird. Es setzt voraus, dass genug Menschen teilnehmen. Bis es genug sind, wird nichts " +
    "weitergegeben.",
  "level-only": "Die Stufe dieser Umfrage",
  "level-first": "Am besten geschützt",
  "level-last": "Am hilfreichsten",
  "level-middle": "Dazwischen",
  "level-step": "Stufe {place} von {count}",

  answer: "Ihre Antwort",
  answers: "Ihre Antworten, höchstens {most}",
  "question-of": "Frage {place} von {count}",
  back: "Zurück",
  next: "Weiter",
  "to-summary": "Zurück zu allen Antworten",
  "summary-title": "Ihre Antworten",
  change: "Ändern",
  "change-answer": "Ändern: {question}",
  "cost-title": "Was jede Antwort kostet",
  "cost-all":
    "Einzeln nichts: Ihre Stufe gilt für alle {count} Antworten zusammen. Ist Ihre Nachricht " +
    "mit allen anderen gemischt, kann sich jemand, der sie liest, von seltenen Fällen " +
    "abgesehen höchstens zu {sure} sicher sein, was eine Ja-oder-Nein-Frage zu einer von " +
    "ihnen oder zu allen angeht. Eine Frage, die Sie auslassen, kostet ebenso viel: Alle " +
    "Nachrichten sind gleich lang.",
  "cost-together": "Auch das wird gemeinsam ausgezählt, zum selben Preis:",
  skip: "Möchte ich nicht sagen",
  "skip-hint": "Auch das bleibt geschützt wie jede Zahl: Der Zufall verbirgt, wer sie auslässt.",
  "no-answer": "Keine Angabe",
  yes: "Ja",
  no: "Nein",
  "number-label": "Eine Zahl von {low} bis {high}",
  "category-label": "Eine von {count}",
  choose: "Bitte wählen",
  "items-count": "{count} von höchstens {most} gewählt",
  link: "Ihr Link",
  "link-label": "Fügen Sie den ganzen Link ein, den Sie bekommen haben.",
  "missing-level": "Wählen Sie zuerst eine Stufe.",
  "missing-answer": "Wählen Sie zuerst eine Antwort.",
  "missing-part": "Wählen Sie hier eine Antwort, oder „Möchte ich nicht sagen“.",
  "missing-link": "Das ist kein vollständiger Link: Kopieren Sie ihn ganz, bis zum Ende.",
  "missing-number": "Schreiben Sie eine Zahl von {low} bis {high}.",
  "missing-number-or-skip":
    "Schreiben Sie eine Zahl von {low} bis {high}, oder wählen Sie „Möchte ich nicht sagen“.",
  "missing-separator": "Schreiben Sie die Zahl ohne Trennzeichen nach den Tausendern.",
  "missing-items": "Wählen Sie höchstens {most} Antworten.",
  make: "Meine Nachricht erstellen",
  "make-hint": "Sie sehen die Nachricht, bevor sie gesendet wird.",
  "make-hint-once":
    "Sie sehen die Nachricht, bevor sie gesendet wird. Der Zufall wird einmal gezogen: " +
    "Dieselbe Antwort ergibt immer dieselbe Nachricht.",

  "message-title": "Das würden Sie senden",
  "at-most-sure": "Höchstens zu {sure} sicher",
  "high-end": "{number}, das obere Ende",
  "low-end": "{number}, das untere Ende",
  "no-answers": "Keine der Antworten",
  "and-more": "und {count} weitere",
  times: "{name}, {count} Mal",
  "one-empty": "1 leerer Teil",
  counter: "{text} Zähler {group}.{bucket}",
  empty: "{count} leere Teile",
  "about-choice":
    "Das ist die Stufe, die Sie gewählt haben, so wie sie ist. Sie wird ohne Namen gezählt.",
  "about-items":
    "Ihre Nachricht kann einige Ihrer Antworten enthalten, keine oder andere: Der Zufall " +
    "hat sie zusammengestellt. Leere Teile machen alle Nachrichten gleich lang. Ist sie mit " +
    "denen aller anderen gemischt, kann sich, von seltenen Fällen abgesehen, niemand zu mehr " +
    "als {sure} sicher sein, dass eine Vermutung über Ihre Antworten stimmt, die vorher so " +
    "wahrscheinlich schien wie ihr Gegenteil. Das setzt voraus, dass die beiden unten nicht " +
    "zusammenarbeiten.",
  "about-counters":
    "In Zählern werden Zahlen gezählt: Für welche Zahlen jeder steht, steht in den Angaben der " +
    "Umfrage.",
  "about-one":
    "Ihre Nachricht kann von Ihrer Antwort abweichen: Der Zufall hat entschieden. Wer sie " +
    "sieht, kann sich höchstens zu {sure} sicher sein, dass eine Vermutung über Ihre Antwort " +
    "stimmt, die vorher so wahrscheinlich schien wie ihr Gegenteil, selbst wenn alle anderen " +
    "zusammenarbeiten.",
  "about-several":
    "Ihre Nachricht nennt mehrere Antworten und lässt vielleicht Ihre weg: Der Zufall hat " +
    "entschieden. Wer sie sieht, kann sich höchstens zu {sure} sicher sein, dass eine " +
    "Vermutung über Ihre Antwort stimmt, die vorher so wahrscheinlich schien wie ihr " +
    "Gegenteil, selbst wenn alle anderen zusammenarbeiten.",
  "about-end":
    "Jede Nachricht nennt eines der beiden Enden des Bereichs. Aus vielen lässt sich der " +
    "Durchschnitt der Antworten berechnen.",
  "about-grid":
    "Jede Nachricht nennt eine von wenigen Zahlen des Bereichs. Aus vielen lässt sich der " +
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
    "Senden Sie die Nachricht, ganz gleich, was darin steht. Auch wer wegen ihres Inhalts " +
    "abbricht, verrät etwas.",
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
  close:
    "Sie können diese Seite schließen. Dieser Browser behält eine geheime Zahl und dass Sie " +
    "teilgenommen haben, damit er nie mehr als einmal etwas verrät; nicht Ihre Antwort.",

  "changed-title": "Sie haben schon eine andere Antwort gesendet",
  "changed-text":
    "Sie wurde vielleicht gespeichert, was auch immer der Server gesagt hat. Wenn Sie diese " +
    "auch senden, verraten beide etwas über Sie: Wer diese Nachricht sieht, erfährt noch " +
    "einmal so viel, wie Ihre Stufe erlaubt, und kann sich mehr als zu {sure} sicher sein, " +
    "worin beide übereinstimmen.",
  "changed-leave": "Wenn es bei Ihrer ersten Antwort bleiben soll, schließen Sie diese Seite.",
  "changed-accept": "Trotzdem eine andere Antwort senden",
  "sent-elsewhere":
    "Mit diesem Link wurde inzwischen eine andere Antwort gesendet. Jetzt wurde nichts " +
    "gesendet. Öffnen Sie Ihren Link noch einmal.",
  "epochs-over":
    "Sie haben an so vielen Runden dieser Umfrage teilgenommen, wie vereinbart war. Es wurde " +
    "nichts gesendet.",
  "other-keys":
    "Sie haben an dieser Runde teilgenommen, bevor ihre Schlüssel ersetzt wurden, und werden " +
    "kein zweites Mal gefragt. Es wurde nichts gesendet.",
  "other-plan":
    "Der Server zeigt einen anderen Plan als bei Ihrer Teilnahme. Es wurde nichts gesendet. " +
    "Sagen Sie es denen, die Sie eingeladen haben.",
  "no-storage":
    "Dieser Browser behält nichts für diese Seite und könnte deshalb nicht dieselbe Nachricht " +
    "noch einmal senden. Erlauben Sie ihm, Daten zu speichern, oder öffnen Sie Ihren Link in " +
    "einem anderen Browser.",

  "trouble-title": "Teilnehmen ist gerade nicht möglich",
  "trouble-sealed": "Ihre Nachricht konnte nicht versiegelt werden",
  "trouble-refused": "Ihre Nachricht wurde nicht angenommen",
  "not-sealed":
    "Es wurde nichts gesendet. Öffnen Sie Ihren Link noch einmal oder in einem anderen Browser.",
  insecure: "Diese Seite braucht eine sichere Verbindung, also eine Adresse mit https am Anfang.",
  "cut-link":
    "Ihr Link ist nicht vollständig; diese Seite erkennt nicht, zu welcher Umfrage er gehört. " +
    "Es wurde nichts gesendet. Kopieren Sie ihn ganz, bis zum letzten Zeichen.",
  "other-survey":
    "Dieser Server zeigt eine andere Umfrage als die, zu der Ihr Link einlädt. Es wurde " +
    "nichts gesendet. Sagen Sie es denen, die Sie eingeladen haben.",
  "other-epoch":
    "Ihr Link ist für eine andere Runde der Umfrage als die, die offen ist. Es wurde nichts " +
    "gesendet. Öffnen Sie Ihren neuesten Link, oder kommen Sie später wieder.",
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
  "no-signatures":
    "Dieser Browser kann keine Unterschriften prüfen, und diese Umfrage braucht das: Bitte den Link in einem neueren öffnen.",
  "foreign-plan":
    "Der Plan dieser Umfrage ist nicht von den Fragenden unterschrieben oder gehört zu einer anderen. Es wurde nichts gesendet.",
  "unsafe-plan":
    "Der Plan dieser Umfrage hält nicht ein, was versprochen wurde. Es wurde nichts gesendet.",
  "wrong-receipt":
    "Die Quittung des Servers ist nicht, was die Umfrage verspricht: Ihre Nachricht zählt " +
    "vielleicht nicht.",
  unreachable: "Der Server der Umfrage war nicht zu erreichen.",
  unexpected: "Etwas Unerwartetes ist geschehen.",
  refused: "Der Server der Umfrage hat die Nachricht nicht angenommen.",
  "refused-because": "Der Server der Umfrage hat die Nachricht nicht angenommen. ({title}.)",
  "token-spent":
    "Dieser Link wurde schon benutzt. Jeder Link zählt nur einmal, deshalb wurde diese " +
    "Nachricht nicht angenommen. Wenn Sie es waren, ist Ihre Nachricht schon da: Sie müssen " +
    "nichts mehr tun.",
  "token-forged":
    "Dieser Link gehört nicht zu dieser Runde der Umfrage. Öffnen Sie den neuesten Link, den " +
    "Sie bekommen haben, oder bitten Sie die, die Sie eingeladen haben, um einen neuen.",
  "not-open": "Diese Runde der Umfrage ist geschlossen und nimmt keine Nachrichten mehr an.",
  "not-begun":
    "Diese Runde der Umfrage hat noch nicht begonnen. Behalten Sie Ihren Link und öffnen Sie " +
    "ihn später noch einmal.",
  "wrong-epoch":
    "Eine andere Runde der Umfrage hat begonnen, seit Sie diese Seite geöffnet haben. Öffnen " +
    "Sie Ihren neuesten Link noch einmal.",
  "wrong-stage":
    "Die Umfrage ist zum nächsten Schritt übergegangen, seit Sie diese Seite geöffnet haben. " +
    "Öffnen Sie Ihren Link noch einmal.",
  "storage-full":
    "Der Server der Umfrage hat im Moment keinen Platz mehr. Versuchen Sie es später noch einmal.",
  "unknown-task":
    "Diese Umfrage ist hier nicht bekannt. Prüfen Sie, ob der Link vollständig ist.",
});
