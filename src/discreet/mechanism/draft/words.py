"""What the name of a column suggests: that it says who somebody is, what nobody should learn, or where they stand."""

from __future__ import annotations

import re


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


IDENTIFYING = _words("""
    id ids uid uuid guid ssn sin nino mrn nhs name names firstname lastname fullname surname forename username nickname
    initials email mail phone telephone tel mobile cell fax passport iban account insurance license licence address
    street url website ip mac login userid patientid personid customerid phonenumber emailaddress nachname vorname
""")
# words that leave an identifying name what it is: patient id, home phone, social security number
COMPANIONS = _words("""
    e first last middle full given family maiden birth home work private user patient person customer client member
    employee student subject participant respondent case record row social security national tax health card number
    numbers no nr num code of the s my main
""")
PERSONS = _words("""
    patient pat person subject participant respondent customer client member employee student pupil citizen resident
    insured beneficiary individual household
""")
EVENTS = _words("""
    encounter visit admission hadm episode stay icustay appointment case claim event order transaction invoice record
    row line entry index sample specimen test prescription referral discharge booking call session sequence seq
""")
NUMBERS = _words("id ids uid uuid guid nr no num number numbers key pk code index idx")
PERSONAL = _words("ssn sin nino mrn nhs bsn passport patientid personid customerid subjectid participantid memberid")
# the first of these that a table has is the likeliest
SENSITIVE = _words("""
    disease diseases diagnosis diagnoses diagnose illness condition conditions disorder icd hiv symptom symptoms
    treatment medication drug procedure cause income salary wage wages earnings pay debt occupation job profession
    religion faith party vote orientation sexuality offense offence crime conviction verdict
""")
DEMOGRAPHIC = _words("""
    age sex gender race ethnicity zip zipcode postcode postal plz city town county state region country nationality
    native citizenship language marital education year month day date dob birthday birthdate household relationship
""")
TECHNICAL = _words("split fold")  # of a table that others prepared: neither known of a person nor sensitive
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")


def words_of(header: str) -> tuple[str, ...]:
    """The words of a name, in lower case: patient_ID, PatientId and 'patient id' are the same; digits are left out."""
    return tuple(word.casefold() for word in _WORD.findall(header))


def sounds_identifying(header: str) -> bool:
    """The whole name says who somebody is: 'last name' does, 'disease name' does not."""
    words = words_of(header)
    return half_identifying(header) and all(word in IDENTIFYING or word in COMPANIONS for word in words)


def half_identifying(header: str) -> bool:
    """Some word of the name says who somebody is."""
    return any(word in IDENTIFYING for word in words_of(header))


def numbers_persons(header: str) -> bool:
    """The name is that of a person's own number: patient_nr, SSN; the number of one of their visits is not."""
    words = words_of(header)
    own = any(word in PERSONS for word in words) and any(word in NUMBERS for word in words)
    known = all(word in (*PERSONS, *NUMBERS, *COMPANIONS) and word not in ("case", "record", "row") for word in words)
    return (own and known) or any(word in PERSONAL for word in words)


def numbers_events(header: str) -> bool:
    """The name is that of a number which every visit, order or row has of its own."""
    words = words_of(header)
    known = (*EVENTS, *PERSONS, *NUMBERS, *COMPANIONS)
    several = any(word in EVENTS for word in words) and any(word in NUMBERS for word in words)
    return several and all(word in known for word in words)


def is_a_number_of(header: str) -> bool:
    """The name ends as that of a number which stands for something: region_id, room_nr."""
    words = words_of(header)
    return len(words) > 1 and words[-1] in ("id", "ids", "uid", "uuid", "guid", "nr", "no", "key", "pk", "idx")


def sensitivity(header: str) -> tuple[int, int] | None:
    """How soon a name is taken for sensitive (the smaller the sooner), or None where it does not sound so."""
    words = words_of(header)
    found = [SENSITIVE.index(word) for word in words if word in SENSITIVE]
    return (min(found), len(words)) if found else None


def sounds_demographic(header: str) -> bool:
    """Something that others know of a person, or that is said of no person: nothing sensitive, as a rule."""
    return demographic_rank(header) < len(DEMOGRAPHIC) or any(word in TECHNICAL for word in words_of(header))


def demographic_rank(header: str) -> int:
    """How soon a name is taken for something that others know of a person; the number of such words where it is not."""
    return min((DEMOGRAPHIC.index(word) for word in words_of(header) if word in DEMOGRAPHIC), default=len(DEMOGRAPHIC))
