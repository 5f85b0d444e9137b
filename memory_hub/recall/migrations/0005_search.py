from importlib import import_module

from django.db import migrations

from memory_hub.common.row_security import IN_MY_PROJECTS, enable

# The two doors around row security, since full-text, trigram and vector operators are not leakproof: a policy on the
# searched table would switch their indexes off. They read the actor's projects from the transaction; the argument can
# only narrow them. What they return is joined to the row-secured tables by the caller.
MINE = """
CREATE FUNCTION recall_mine(wanted_projects uuid[]) RETURNS uuid[] LANGUAGE sql STABLE
SET search_path = public, pg_temp
AS $$ SELECT array(SELECT unnest(hub_project_ids()) INTERSECT SELECT unnest(wanted_projects)) $$;
"""

# Each asked term with the number of entries that have it; for a term that no entry has, the likest ones instead.
KNOWN_TERMS = """
CREATE FUNCTION recall_known_terms(wanted_projects uuid[], wanted_kind text, asked text[])
RETURNS TABLE (asked_term text, term text, documents bigint, aside_documents bigint, likeness real)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp SET pg_trgm.similarity_threshold = 0.4 SET plan_cache_mode = force_custom_plan
AS $$
    WITH known AS MATERIALIZED (
        SELECT t.term, sum(t.documents) AS documents, sum(t.aside_documents) AS aside_documents
        FROM recall_term t
        WHERE t.project_id = ANY (recall_mine(wanted_projects)) AND t.kind = wanted_kind AND t.term = ANY (asked)
        GROUP BY t.term
    )
    SELECT k.term, k.term, k.documents, k.aside_documents, 1.0::real FROM known k
    UNION ALL
    SELECT a.asked, l.term, l.documents, l.aside_documents, l.likeness
    FROM unnest(asked) AS a (asked)
    CROSS JOIN LATERAL (
        SELECT t.term, sum(t.documents) AS documents, sum(t.aside_documents) AS aside_documents,
               similarity(t.term, a.asked) AS likeness
        FROM recall_term t
        WHERE t.project_id = ANY (recall_mine(wanted_projects)) AND t.kind = wanted_kind AND t.term % a.asked
        GROUP BY t.term ORDER BY likeness DESC, t.term LIMIT 3
    ) l
    WHERE length(a.asked) > 3 AND NOT EXISTS (SELECT FROM known k WHERE k.term = a.asked)
$$;
REVOKE ALL ON FUNCTION recall_known_terms FROM PUBLIC;
"""

# in_words and in_aside were planned so that few entries match; `work` is the bound where the plan was wrong. Up to
# `few` vectors are compared one by one: in a graph of all projects, those of a small one are far apart.
CANDIDATES = """
CREATE FUNCTION recall_candidates(
    wanted_projects uuid[], wanted_kind text, in_words tsquery, in_aside tsquery, terms tsquery[], weights real[],
    meaning halfvec(384), model text, arm_size integer, work integer, few integer
) RETURNS TABLE (
    entry_id uuid, solution_id uuid, lesson_id uuid, heading text, statement text, aside integer[], cosine real
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = public, pg_temp SET hnsw.iterative_scan = 'relaxed_order' SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    mine uuid[] := recall_mine(wanted_projects);
    scope tsquery;
    near uuid[] := '{}';
BEGIN
    IF mine = '{}' THEN
        RETURN;
    END IF;
    scope := (SELECT string_agg(quote_literal('@' || wanted_kind || id), ' | ') FROM unnest(mine) AS m (id))::tsquery;
    IF meaning IS NOT NULL THEN
        IF few >= (SELECT count(*) FROM (
            SELECT FROM recall_embedding v
            WHERE v.project_id = ANY (mine) AND v.model_id = model AND v.kind = wanted_kind LIMIT few + 1
        ) AS them) THEN
            near := array(
                SELECT v.entry_id FROM recall_embedding v
                WHERE v.project_id = ANY (mine) AND v.model_id = model AND v.kind = wanted_kind
                ORDER BY (v.vector <=> meaning) + 0 LIMIT arm_size
            );
        ELSE
            near := array(
                SELECT v.entry_id FROM recall_embedding v
                WHERE v.project_id = ANY (mine) AND v.model_id = model AND v.kind = wanted_kind
                ORDER BY v.vector <=> meaning LIMIT arm_size
            );
        END IF;
    END IF;
    RETURN QUERY
    WITH worded AS MATERIALIZED (
        SELECT e.id, e.words FROM recall_indexentry e WHERE e.words @@ (scope && in_words) LIMIT work
    ), by_words AS (
        SELECT w.id FROM worded w
        ORDER BY (SELECT sum(t.weight) FROM unnest(terms, weights) AS t (term, weight) WHERE w.words @@ t.term) DESC
        LIMIT arm_size
    ), by_aside AS (
        SELECT e.id FROM recall_indexentry e WHERE e.aside @@ (scope && in_aside) LIMIT arm_size
    ), found AS (
        SELECT id FROM by_words UNION SELECT id FROM by_aside UNION SELECT unnest(near)
    )
    SELECT e.id, e.solution_id, e.lesson_id, e.heading, e.statement,
           array(SELECT n::integer FROM unnest(terms) WITH ORDINALITY AS t (term, n) WHERE e.aside @@ t.term),
           (1 - (v.vector <=> meaning))::real
    FROM found f JOIN recall_indexentry e ON e.id = f.id
    LEFT JOIN recall_embedding v ON v.entry_id = e.id AND v.model_id = model AND meaning IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION recall_candidates FROM PUBLIC;
"""

BEFORE = "DROP FUNCTION recall_candidates(uuid[], text, tsquery, text, halfvec, text, integer)"
BEFORE_BACK = import_module("memory_hub.recall.migrations.0003_candidates").CANDIDATES

# Entries that were indexed before have other words; the sweep indexes them anew, a batch at a time.
AGAIN = """
UPDATE library_solution SET needs_index = true;
UPDATE library_lesson SET needs_index = true;
UPDATE recall_embedding v SET kind = 'lesson' FROM recall_indexentry e WHERE e.id = v.entry_id AND e.lesson_id IS NOT NULL;
"""


class Migration(migrations.Migration):
    dependencies = [("recall", "0004_terms_and_models")]

    operations = [
        enable("recall_term", IN_MY_PROJECTS),
        migrations.RunSQL(BEFORE, BEFORE_BACK),
        migrations.RunSQL(MINE, "DROP FUNCTION recall_mine"),
        migrations.RunSQL(KNOWN_TERMS, "DROP FUNCTION recall_known_terms"),
        migrations.RunSQL(
            CANDIDATES,
            "DROP FUNCTION recall_candidates(uuid[], text, tsquery, tsquery, tsquery[], real[], halfvec, text, integer,"
            " integer, integer)",
        ),
        migrations.RunSQL(AGAIN, AGAIN),
    ]
