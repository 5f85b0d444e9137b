from django.db import migrations

# The one door around row security, since full-text, trigram and vector operators are not leakproof: a policy on the
# searched table would switch their indexes off. It reads the actor's projects from the transaction; the argument can
# only narrow them. What it returns is joined to the row-secured tables by the caller.
CANDIDATES = """
CREATE FUNCTION recall_candidates(
    wanted_projects uuid[], wanted_kind text, query tsquery, statement_like text, meaning halfvec(384),
    model text, arm_size integer
) RETURNS TABLE (
    entry_id uuid, solution_id uuid, lesson_id uuid, statement text,
    words_a text[], words_b text[], words_c text[], words_d text[], trigrams real, cosine real
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET hnsw.iterative_scan = 'relaxed_order'
AS $$
    WITH mine AS (
        SELECT array(SELECT unnest(hub_project_ids()) INTERSECT SELECT unnest(wanted_projects)) AS ids
    ), by_words AS (
        SELECT e.id FROM recall_indexentry e, mine
        WHERE e.project_id = ANY (mine.ids) AND e.words @@ query
          AND (wanted_kind = 'solution') = (e.solution_id IS NOT NULL)
        ORDER BY ts_rank(e.words, query) DESC LIMIT arm_size
    ), by_trigrams AS (
        SELECT e.id FROM recall_indexentry e, mine
        WHERE e.project_id = ANY (mine.ids) AND e.statement % statement_like
          AND (wanted_kind = 'solution') = (e.solution_id IS NOT NULL)
        ORDER BY similarity(e.statement, statement_like) DESC LIMIT arm_size
    ), by_meaning AS (
        SELECT v.entry_id AS id FROM recall_embedding v JOIN recall_indexentry e ON e.id = v.entry_id, mine
        WHERE meaning IS NOT NULL AND v.model_id = model AND v.project_id = ANY (mine.ids)
          AND (wanted_kind = 'solution') = (e.solution_id IS NOT NULL)
        ORDER BY v.vector <=> meaning LIMIT arm_size
    ), found AS (
        SELECT id FROM by_words UNION SELECT id FROM by_trigrams UNION SELECT id FROM by_meaning
    )
    SELECT e.id, e.solution_id, e.lesson_id, e.statement,
           tsvector_to_array(ts_filter(e.words, '{a}')), tsvector_to_array(ts_filter(e.words, '{b}')),
           tsvector_to_array(ts_filter(e.words, '{c}')), tsvector_to_array(ts_filter(e.words, '{d}')),
           similarity(e.statement, statement_like)::real, (1 - (v.vector <=> meaning))::real
    FROM found JOIN recall_indexentry e USING (id)
    LEFT JOIN recall_embedding v ON v.entry_id = e.id AND v.model_id = model AND meaning IS NOT NULL
$$;
REVOKE ALL ON FUNCTION recall_candidates FROM PUBLIC;
"""


class Migration(migrations.Migration):
    dependencies = [("recall", "0002_row_security")]

    operations = [migrations.RunSQL(CANDIDATES, "DROP FUNCTION recall_candidates")]
